const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/iu;
const SHORTEST = 8;

/** Identifiers as their beginnings, all of one length, long enough to tell them apart; other texts as they are. */
export function shortIds(texts: readonly string[]): string[] {
  const ids = new Set(texts.filter(text => UUID.test(text)));
  let length = SHORTEST;
  while (new Set([...ids].map(id => id.slice(0, length))).size < ids.size) length += 1;
  return texts.map(text => (UUID.test(text) ? text.slice(0, length) : text));
}
