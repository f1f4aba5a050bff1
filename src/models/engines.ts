import type { Env } from '../utils/env.ts';
import { createFailedResult, type Engine } from './engine.ts';
import type { EngineName } from './model-entry.ts';
import { cardEngine, clipEngine, echoEngine, sandboxEngine } from './offline/offline-engines.ts';
import type { PrivateRules } from './outgoing/fetch-image.ts';

export type Engines = Readonly<Record<EngineName, Engine>>;

export interface EnginesOptions {
  /** The environment: the providers' keys, and the variables that programs see. */
  readonly env: Env;
  readonly privateRules?: PrivateRules;
  /** The data directory, which records running programs. */
  readonly dataDir: string;
  /** The absolute folder in which programs start; default the working directory. */
  readonly directory?: string | undefined;
}

export function createEngines({
  env,
  privateRules,
  dataDir,
  directory = process.cwd(),
}: EnginesOptions): Engines {
  return {
    echo: echoEngine,
    card: cardEngine,
    clip: clipEngine,
    sandbox: sandboxEngine,
    provider: createLazyEngine(async () =>
      (await import('./providers/provider-engine.ts')).createProviderEngine(env, { privateRules }),
    ),
    program: createLazyEngine(async () =>
      (await import('./programs/program-engine.ts')).createProgramEngine({
        env,
        dataDir,
        directory,
      }),
    ),
    address: createLazyEngine(async () =>
      (await import('./programs/address-engine.ts')).createAddressEngine({ env }),
    ),
  } satisfies Engines;
}

/** Ends the programs of engines that wait for further runs; the next run starts one again. */
export async function endPersistentPrograms(engines: Engines): Promise<void> {
  await Promise.all(
    Object.values(engines).map(async engine => await engine.endPersistentPrograms?.()),
  );
}

/** Returns an engine that loads its code with the first job. */
function createLazyEngine(load: () => Promise<Engine>): Engine {
  let enginePromise: Promise<Engine> | undefined;
  const loadOnce = (): Promise<Engine> => {
    enginePromise ??= load();
    return enginePromise;
  };
  return {
    run: async job => (await loadOnce()).run(job),
    readBatchAnswer: async (job, body) =>
      (await (await loadOnce()).readBatchAnswer?.(job, body)) ??
      createFailedResult('it has no batches'),
    endPersistentPrograms: async () => await (await enginePromise)?.endPersistentPrograms?.(),
  };
}
