import { oneLine } from '../outputs/sanitise.ts';

const LONGEST = 60;

/** A text on one short line: what it begins with, and how long it is where that is not all. */
export function firstWords(text: string): string {
  const line = oneLine(text);
  const characters = [...line];
  if (characters.length <= LONGEST) {
    return line;
  }
  return `${characters.slice(0, LONGEST).join('')}… (${[...text].length} characters)`;
}
