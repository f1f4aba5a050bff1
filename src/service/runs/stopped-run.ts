/**
 * Returns the error of a run that was stopped and may have been paid for.
 *
 * @param served true for a run of a `serve`; a run of a command is on this machine, whatever service is configured
 */
export function stoppedRun(runId: string, by: string, served = false): string {
  const again = `promptrun runs rerun ${runId}${served ? '' : ' --profile local'}`;
  return `stopped by ${by}; the model's answer was dropped and may have been paid for. To run it again: ${again}`;
}
