import { visible } from './sanitise.ts';

const PLAIN = /^[A-Za-z0-9_%+:,./-][A-Za-z0-9_%+:,./@=-]*$/u;

/**
 * A word as it is typed at a shell, which reads the same word back: quoted if the shell would read anything into it.
 * What would break the line or drive the terminal it is shown on is escaped.
 */
export function shellWord(word: string): string {
  if (PLAIN.test(word)) return word;
  return isUnshowable(word) ? escaped(word) : singleQuoted(word);
}

/** A word in single quotes, whether it needs them or not. */
export function singleQuoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

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
