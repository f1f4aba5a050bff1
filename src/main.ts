import packageJson from '../package.json' with { type: 'json' };
import { EXIT, type ExitCode } from './cli/core/exit-codes.ts';
import type { LocalService } from './cli/core/local-service.ts';
import { runCli } from './cli/run-cli.ts';
import { createProcessStreams } from './cli/terminal/io.ts';

/** Runs the command line as this process, which ends with its exit code. */
export async function start(argv: readonly string[]): Promise<void> {
  // If nothing is pending, Node exits even if the command has not ended.
  process.exitCode = EXIT.fault;
  process.once('beforeExit', reportUnfinished);
  process.exitCode = await main(argv);
  process.off('beforeExit', reportUnfinished);
}

function reportUnfinished(): void {
  createProcessStreams().stderr.write(
    'error: promptrun ended before its work was done, which is a bug; see its runs with: promptrun runs list (INTERNAL_ERROR)\n',
  );
}

/** Runs the command line in this process and returns its exit code. */
export function main(argv: readonly string[]): Promise<ExitCode> {
  return runCli(argv, {
    version: packageJson.version,
    streams: createProcessStreams(),
    env: process.env,
    // Read late, because a working directory that was removed is an error of the command.
    get cwd() {
      return process.cwd();
    },
    process,
    local: localService,
  });
}

const withProcessEnv = <T extends object>(options: T) => ({ ...options, env: process.env });
const loadLocalStore = () => import('./service/local-store.ts');

/** The local service, loaded only by the commands that need it. */
export const localService: LocalService = {
  start: async options =>
    (await import('./service/embedded.ts')).startEmbedded(withProcessEnv(options)),
  serve: async options =>
    (await import('./service/start-service.ts')).startService(withProcessEnv(options)),
  withStore: async (options, use) =>
    (await loadLocalStore()).withStore(withProcessEnv(options), use),
  isInUse: async dataDir => (await loadLocalStore()).isStoreInUse(dataDir),
};
