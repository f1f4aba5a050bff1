/**
 * What a user is told of a run that was stopped, and may have been paid for.
 *
 * @param served whether it is of a `serve`; one of a command is found on this machine, whatever service is configured
 */
export function stoppedRun(runId: string, by: string, served = false): string {
  const again = `promptrun runs rerun ${runId}${served ? '' : ' --profile local'}`;
  return `stopped by ${by}; the model's answer was dropped and may have been paid for. To run it again: ${again}`;
}
