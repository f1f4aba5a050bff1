import { visible } from './sanitise.ts';

const PLAIN = /^[\w@%+:,./-]+$/u;

/** A word as it is typed at a shell: quoted where the shell would read anything into it, one word whatever it holds. */
export function shellWord(word: string): string {
  const shown = visible(word);
  return PLAIN.test(shown) ? shown : `'${shown.replaceAll("'", String.raw`'\''`)}'`;
}
