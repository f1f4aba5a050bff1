import { wantsPlainLines } from '../terminal/terminal-context.ts';
import type { Prompter, PrompterOptions } from './types.ts';

/** Loads the questions; lines instead of drawn ones with `ACCESSIBLE` or on a dumb terminal. */
export async function createPrompter(options: PrompterOptions): Promise<Prompter> {
  if (wantsPlainLines(options.env)) {
    const { linePrompter } = await import('./lines/line-prompter.ts');
    return linePrompter(options);
  }
  const { drawnPrompter } = await import('./drawn/drawn-prompter.ts');
  return drawnPrompter(options);
}
