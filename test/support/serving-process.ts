import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { startCommand } from './command.ts';

/** The built command serving a data directory in a separate process, to be killed. */
export interface ServingProcess {
  /** Ends in /v1. */
  readonly url: string;
  /** Kills it like `kill -9`; resolves once it is gone. */
  kill(): Promise<void>;
}

/** Starts `promptrun serve` on a free port; it is killed at the end of the test at the latest. */
export async function serveInProcess(dataDir: string, ...flags: string[]): Promise<ServingProcess> {
  const { child, untilStdout } = startCommand(['serve', '--port', '0', ...flags], {
    env: { PROMPTRUN_DATA_DIR: dataDir },
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };

  onTestFinished(kill);
  const [, url = ''] = await untilStdout(/^listening on (\S+)$/m);
  return { url, kill };
}
