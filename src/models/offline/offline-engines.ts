import { installedBytes } from '../../files/installed/installed-file.ts';
import {
  type Engine,
  type EngineJob,
  type EngineOutput,
  type EngineResult,
  failedWith,
  roughTokens,
} from '../engine.ts';
import { drawCard } from './card/draw.ts';

/** Returns the rendered prompt as the answer. */
export const echo: Engine = {
  run: async ({ prompt: { text } }) => successWith(text, { type: 'text', text }),
};

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
export const card: Engine = {
  run: async ({ prompt: { text }, runOptions, signal }) => {
    const bytes = await drawCard(text, ZOOMS.get(runOptions['quality']) ?? 1);
    signal.throwIfAborted();
    return successWith(text, { type: 'image', bytes, mediaType: 'image/png' });
  },
};

/** Returns the clip in the package, two seconds of H.264, for any prompt. */
export const clip: Engine = {
  run: async ({ prompt: { text } }) => {
    const bytes = installedBytes('dist/assets/clip.mp4', 'assets/clip.mp4', 'models/offline/clip.mp4');
    return successWith(text, { type: 'video', bytes, mediaType: 'video/mp4' });
  },
};

/** Simulates slow runs and failures: waits `delaySeconds`, then ends with `outcome`. */
export const sandbox: Engine = {
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
