import { type Engine, roughTokens } from './engine.ts';

/** Gives the rendered prompt back as it is. */
export const echo: Engine = {
  run: async ({ prompt: { text } }) => ({
    outputs: [{ type: 'text', text }],
    tokens: roughTokens(text),
    failed: false,
  }),
};
