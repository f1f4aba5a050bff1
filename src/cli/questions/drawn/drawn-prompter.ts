import type { Prompter, PrompterOptions } from '../types.ts';
import { askChoice, askSearch, askSeveral } from './ask-choice.ts';
import { askPath, askSecret, askText } from './ask-text.ts';
import { drawing } from './drawing.ts';

/** Questions that are drawn and redrawn in place. */
export function drawnPrompter(options: PrompterOptions): Prompter {
  const shared = drawing(options);
  return {
    text: (question, signal) => askText(shared, question, signal),
    secret: (question, signal) => askSecret(shared, question, signal),
    path: (question, signal) => askPath(shared, question, signal),
    choice: (question, signal) => askChoice(shared, question, signal),
    search: (question, signal) => askSearch(shared, question, signal),
    several: (question, signal) => askSeveral(shared, question, signal),
  };
}
