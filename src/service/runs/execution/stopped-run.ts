import { RERUN_ADVICE } from '../../../wire/error-words.ts';

/**
 * Returns the error of a run that was stopped and may have been paid for.
 *
 * @param owner the process that was stopped; a command's run is on this machine, even if another
 * service is configured
 */
export function stoppedRunError(runId: string, cause: string, owner: 'command' | 'serve'): string {
  const again = `promptrun runs rerun ${runId}${owner === 'serve' ? '' : ' --profile local'}`;
  return `stopped by ${cause}; the model's answer was dropped and may have been paid for${RERUN_ADVICE}${again}`;
}
