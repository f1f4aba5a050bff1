import { drawCard } from './card/draw.ts';
import { type Engine, roughTokens } from './engine.ts';

/** Widths of 512, 1024 and 2048 pixels. */
const ZOOM: Readonly<Record<string, number>> = { low: 0.5, medium: 1, high: 2 };

/** Draws the rendered prompt into a picture. */
export const card: Engine = {
  run: async ({ prompt: { text }, runOptions, signal }) => {
    const bytes = await drawCard(text, ZOOM[runOptions['quality'] ?? 'medium'] ?? 1);
    signal.throwIfAborted();
    return {
      outputs: [{ type: 'image', bytes, mediaType: 'image/png' }],
      tokens: roughTokens(text),
      failed: false,
    };
  },
};
