import { visible } from '../outputs/sanitise.ts';

const NEEDS_NO_QUOTES = /^[A-Za-z0-9_%+:,./-][A-Za-z0-9_%+:,./@=-]*$/u;
/**
 * The words of a command as one line that a shell reads back as the same words. Undefined where that is impossible:
 * no argument can hold a NUL.
 */
export function repeatCommand(words: readonly string[]): string | undefined {
  return words.some(word => word.includes('\0')) ? undefined : words.map(quoted).join(' ');
}

function quoted(word: string): string {
  if (NEEDS_NO_QUOTES.test(word)) {
    return word;
  }
  return isUnshowable(word) ? escaped(word) : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Whether it would break the line or drive the terminal it is shown on. */
function isUnshowable(text: string): boolean {
  return /[\t\n]/u.test(text) || visible(text) !== text;
}

/** `$'…'` with everything but plain text as octal bytes, so that the locale does not matter. */
function escaped(word: string): string {
  const written = Array.from(word, character =>
    isUnshowable(character) || "'\\!".includes(character) ? octal(character) : character,
  );
  return `$'${written.join('')}'`;
}

function octal(character: string): string {
  return [...Buffer.from(character)].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
