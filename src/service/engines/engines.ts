import { readFile } from 'node:fs/promises';
import { installedFile } from '../../files/installed-file.ts';
import type { EngineName } from '../models/entry.ts';
import type { Env } from '../outgoing/proxy.ts';
import { drawCard } from './card/draw.ts';
import { type Engine, type EngineJob, type EngineResult, failedWith, roughTokens } from './engine.ts';
import { providerEngine } from './provider/engine.ts';

export type Engines = Readonly<Record<EngineName, Engine>>;

/** Every engine by its name. `env` holds the keys of the providers. */
export function createEngines({ env }: { env: Env }): Engines {
  return {
    echo,
    card,
    clip,
    sandbox,
    openai: providerEngine(env, async () => (await import('./openai/speak.ts')).OPENAI),
    anthropic: providerEngine(env, async () => (await import('./anthropic/speak.ts')).ANTHROPIC),
  } satisfies Engines;
}

/** Gives the rendered prompt back as it is. */
const echo: Engine = {
  run: async ({ prompt: { text } }) => ({
    outputs: [{ type: 'text', text }],
    tokens: roughTokens(text),
    failed: false,
  }),
};

/** Widths of 512, 1024 and 2048 pixels. */
const ZOOM: Readonly<Record<string, number>> = { low: 0.5, medium: 1, high: 2 };

function zoomOf(quality: unknown): number {
  return (typeof quality === 'string' ? ZOOM[quality] : undefined) ?? 1;
}

/** Draws the rendered prompt into a picture. */
const card: Engine = {
  run: async ({ prompt: { text }, runOptions, signal }) => {
    const bytes = await drawCard(text, zoomOf(runOptions['quality']));
    signal.throwIfAborted();
    return {
      outputs: [{ type: 'image', bytes, mediaType: 'image/png' }],
      tokens: roughTokens(text),
      failed: false,
    };
  },
};

/** Gives the one film that ships with the package: two seconds of H.264, whatever the prompt. */
const clip: Engine = {
  run: async ({ prompt: { text } }) => ({
    outputs: [
      {
        type: 'video',
        bytes: await readFile(
          installedFile('dist/assets/clip.mp4', 'assets/clip.mp4', 'service/engines/clip.mp4'),
        ),
        mediaType: 'video/mp4',
      },
    ],
    tokens: roughTokens(text),
    failed: false,
  }),
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
      return {
        outputs: [answer, { type: 'error', message: `${REHEARSED}partial` }],
        tokens: roughTokens(text),
        failed: false,
      };
    default:
      return { outputs: [answer], tokens: roughTokens(text), failed: false };
  }
}
