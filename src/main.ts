import packageJson from '../package.json' with { type: 'json' };
import type { LocalService } from './cli/core/local-service.ts';
import { systemClock } from './cli/core/time.ts';
import type { ExitCode } from './cli/exit-codes.ts';
import { runCli } from './cli/run-cli.ts';
import { processStreams } from './cli/terminal/io.ts';

/** Runs the command line in this process: reads its arguments, gives its exit code. */
export function main(argv: readonly string[]): Promise<ExitCode> {
  return runCli(argv, {
    version: packageJson.version,
    streams: processStreams(),
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    process,
    local: localService,
  });
}

/** The service is loaded only by the commands that need it. */
export const localService: LocalService = {
  async start(options) {
    const { startEmbedded } = await import('./service/embedded.ts');
    return await startEmbedded({ ...options, env: process.env });
  },
  async serve(options) {
    const { startService } = await import('./service/start-service.ts');
    return await startService({ ...options, env: process.env });
  },
  async open(options) {
    const { openStore } = await import('./service/lifecycle/local-store.ts');
    return await openStore({ ...options, env: process.env });
  },
  async discoverModels(options) {
    const { discoverModels } = await import('./service/models/discover.ts');
    return await discoverModels({ ...options, env: process.env });
  },
  async reportModels(options) {
    const { reportModels } = await import('./service/models/report.ts');
    return await reportModels({ ...options, env: process.env });
  },
  async listProviders(options) {
    const { listProviders } = await import('./service/models/report.ts');
    return await listProviders({ ...options, env: process.env });
  },
  async keyVariables(options) {
    const { keyVariables } = await import('./service/models/report.ts');
    return await keyVariables({ ...options, env: process.env });
  },
  async newPrompt(name, options) {
    const { newPrompt } = await import('./service/prompts/built-in/files.ts');
    return await newPrompt(name, options);
  },
  async convertForeign(text, file, options) {
    const { convertForeign } = await import('./service/foreign/convert.ts');
    return await convertForeign(text, file, options);
  },
  async foreignTests(text, file) {
    const { foreignTests } = await import('./service/foreign/convert.ts');
    return foreignTests(text, file);
  },
};
