import { readInstalledBytes } from '../../files/installed/installed-file.ts';
import {
  createFailedResult,
  type Engine,
  type EngineJob,
  type EngineOutput,
  type EngineResult,
  estimateTokens,
} from '../engine.ts';
import { drawCard } from './draw-card.ts';

/** Returns the rendered prompt as the answer. */
export const echoEngine: Engine = {
  run: async ({ prompt: { text } }) => createSuccessfulResult(text, { type: 'text', text }),
};

function createSuccessfulResult(text: string, ...outputs: EngineOutput[]): EngineResult {
  return { outputs, tokens: estimateTokens(text), hasFailed: false };
}

/** Zoom factors by quality, for widths of 512, 1024 and 2048 pixels. */
const ZOOM_BY_QUALITY: ReadonlyMap<unknown, number> = new Map([
  ['low', 0.5],
  ['medium', 1],
  ['high', 2],
]);

/** Draws the rendered prompt as an image. */
export const cardEngine: Engine = {
  run: async ({ prompt: { text }, runOptions, signal }) => {
    const bytes = await drawCard(text, ZOOM_BY_QUALITY.get(runOptions['quality']) ?? 1);
    signal.throwIfAborted();
    return createSuccessfulResult(text, { type: 'image', bytes, mediaType: 'image/png' });
  },
};

/** Returns the clip in the package, two seconds of H.264, for any prompt. */
export const clipEngine: Engine = {
  run: async ({ prompt: { text } }) => {
    const bytes = readInstalledBytes(
      'dist/assets/clip.mp4',
      'assets/clip.mp4',
      'models/offline/clip.mp4',
    );
    return createSuccessfulResult(text, { type: 'video', bytes, mediaType: 'video/mp4' });
  },
};

/** Simulates slow runs and failures: waits `delaySeconds`, then ends with `outcome`. */
export const sandboxEngine: Engine = {
  run: async job => {
    const seconds = Number(job.runOptions['delaySeconds'] ?? 0);
    if (seconds > 0) await job.sleep(seconds * 1000, job.signal);
    return createSandboxResult(job);
  },
};

const REQUESTED_FAILURE_PREFIX = 'This failure was asked for with outcome=';

function createSandboxResult({ prompt: { text }, runOptions }: EngineJob): EngineResult {
  const answer = { type: 'text', text } as const;
  switch (runOptions['outcome'] ?? 'succeeded') {
    case 'failed':
      return createFailedResult(`${REQUESTED_FAILURE_PREFIX}failed`);
    case 'partial':
      return createSuccessfulResult(text, answer, {
        type: 'error',
        message: `${REQUESTED_FAILURE_PREFIX}partial`,
      });
    default:
      return createSuccessfulResult(text, answer);
  }
}
