import type { Env } from '../files/env.ts';
import { installedBytes } from '../files/installed/installed-file.ts';
import {
  type Engine,
  type EngineJob,
  type EngineOutput,
  type EngineResult,
  failedWith,
  roughTokens,
} from './engine.ts';
import type { EngineName } from './entry.ts';
import { drawCard } from './offline/card/draw.ts';
import type { PrivateRules } from './outgoing/fetch-image.ts';

export type Engines = Readonly<Record<EngineName, Engine>>;

/** The settings of all engines. */
export interface EnginesOptions {
  /** The environment: the providers' keys, and the variables that programs see. */
  readonly env: Env;
  readonly privateRules?: PrivateRules;
  /** The data directory, which records running programs. */
  readonly dataDir: string;
  /** The absolute folder in which programs start; default the working directory. */
  readonly directory?: string | undefined;
}

/** Returns all engines by name. */
export function createEngines({
  env,
  privateRules,
  dataDir,
  directory = process.cwd(),
}: EnginesOptions): Engines {
  return {
    echo,
    card,
    clip,
    sandbox,
    provider: lazyEngine(async () =>
      (await import('./providers/engine.ts')).providerEngine(env, { privateRules }),
    ),
    program: lazyEngine(async () =>
      (await import('./programs/program-engine.ts')).programEngine({ env, dataDir, directory }),
    ),
    address: lazyEngine(async () => (await import('./programs/address-engine.ts')).addressEngine({ env })),
  } satisfies Engines;
}

/** Returns an engine that loads its code with the first job. */
function lazyEngine(load: () => Promise<Engine>): Engine {
  let engine: Promise<Engine> | undefined;
  const loaded = (): Promise<Engine> => {
    engine ??= load();
    return engine;
  };
  return {
    run: async job => (await loaded()).run(job),
    read: async (job, body) => (await (await loaded()).read?.(job, body)) ?? failedWith('it has no batches'),
  };
}

/** Returns the rendered prompt as the answer. */
const echo: Engine = {
  run: async ({ prompt: { text } }) => successWith(text, { type: 'text', text }),
};

/** Returns the result of a built-in engine. */
function successWith(text: string, ...outputs: EngineOutput[]): EngineResult {
  return { outputs, tokens: roughTokens(text), failed: false };
}

/** Zoom factors by quality, for widths of 512, 1024 and 2048 pixels. */
const ZOOMS: ReadonlyMap<unknown, number> = new Map([
  ['low', 0.5],
  ['medium', 1],
  ['high', 2],
]);

/** Draws the rendered prompt as a picture. */
const card: Engine = {
  run: async ({ prompt: { text }, runOptions, signal }) => {
    const bytes = await drawCard(text, ZOOMS.get(runOptions['quality']) ?? 1);
    signal.throwIfAborted();
    return successWith(text, { type: 'image', bytes, mediaType: 'image/png' });
  },
};

/** Returns the clip in the package, two seconds of H.264, for any prompt. */
const clip: Engine = {
  run: async ({ prompt: { text } }) => {
    const bytes = installedBytes('dist/assets/clip.mp4', 'assets/clip.mp4', 'models/offline/clip.mp4');
    return successWith(text, { type: 'video', bytes, mediaType: 'video/mp4' });
  },
};

/** Simulates slow runs and failures: waits `delaySeconds`, then ends with `outcome`. */
const sandbox: Engine = {
  run: async job => {
    const seconds = Number(job.runOptions['delaySeconds'] ?? 0);
    if (seconds > 0) await job.sleep(seconds * 1000, job.signal);
    return sandboxResult(job);
  },
};

const REQUESTED_FAILURE = 'This failure was asked for with outcome=';

function sandboxResult({ prompt: { text }, runOptions }: EngineJob): EngineResult {
  const answer = { type: 'text', text } as const;
  switch (runOptions['outcome'] ?? 'succeeded') {
    case 'failed':
      return failedWith(`${REQUESTED_FAILURE}failed`);
    case 'partial':
      return successWith(text, answer, { type: 'error', message: `${REQUESTED_FAILURE}partial` });
    default:
      return successWith(text, answer);
  }
}
