import { installedBytes } from '../files/installed-file.ts';
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
import type { Env } from './outgoing/proxy.ts';

export type Engines = Readonly<Record<EngineName, Engine>>;

export interface EnginesOptions {
  /** Holds the keys of the providers; programs get all of it. */
  readonly env: Env;
  readonly privateRules?: PrivateRules;
  /** Where programs that run are written down. */
  readonly dataDir: string;
  /** Where programs start, absolute; default the working directory of this process. */
  readonly directory?: string | undefined;
}

/** Every engine by its name. */
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
    provider: loadedLate(async () =>
      (await import('./providers/engine.ts')).providerEngine(env, { privateRules }),
    ),
    program: loadedLate(async () =>
      (await import('./programs/program-engine.ts')).programEngine({ env, dataDir, directory }),
    ),
    address: loadedLate(async () => (await import('./programs/address-engine.ts')).addressEngine({ env })),
  } satisfies Engines;
}

/** An engine whose code is loaded by its first job. */
function loadedLate(load: () => Promise<Engine>): Engine {
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

/** Gives the rendered prompt back as it is. */
const echo: Engine = {
  run: async ({ prompt: { text } }) => madeOf(text, { type: 'text', text }),
};

/** What a built-in engine made of a prompt's text. */
function madeOf(text: string, ...outputs: EngineOutput[]): EngineResult {
  return { outputs, tokens: roughTokens(text), failed: false };
}

/** By quality: widths of 512, 1024 and 2048 pixels. */
const ZOOMS: ReadonlyMap<unknown, number> = new Map([
  ['low', 0.5],
  ['medium', 1],
  ['high', 2],
]);

/** Draws the rendered prompt into a picture. */
const card: Engine = {
  run: async ({ prompt: { text }, runOptions, signal }) => {
    const bytes = await drawCard(text, ZOOMS.get(runOptions['quality']) ?? 1);
    signal.throwIfAborted();
    return madeOf(text, { type: 'image', bytes, mediaType: 'image/png' });
  },
};

/** Gives the one film that ships with the package: two seconds of H.264, whatever the prompt. */
const clip: Engine = {
  run: async ({ prompt: { text } }) => {
    const bytes = installedBytes('dist/assets/clip.mp4', 'assets/clip.mp4', 'models/offline/clip.mp4');
    return madeOf(text, { type: 'video', bytes, mediaType: 'video/mp4' });
  },
};

/** Rehearses slow runs and failures: waits `delaySeconds`, then ends as `outcome` says. */
const sandbox: Engine = {
  run: async job => {
    const seconds = Number(job.runOptions['delaySeconds'] ?? 0);
    if (seconds > 0) await job.sleep(seconds * 1000, job.signal);
    return ending(job);
  },
};

const REHEARSED = 'This failure was asked for with outcome=';

function ending({ prompt: { text }, runOptions }: EngineJob): EngineResult {
  const answer = { type: 'text', text } as const;
  switch (runOptions['outcome'] ?? 'succeeded') {
    case 'failed':
      return failedWith(`${REHEARSED}failed`);
    case 'partial':
      return madeOf(text, answer, { type: 'error', message: `${REHEARSED}partial` });
    default:
      return madeOf(text, answer);
  }
}
