const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const OPENING: ReadonlySet<number> = new Set(['[', '{'].map(character => character.charCodeAt(0)));
const CLOSING: ReadonlySet<number> = new Set([']', '}'].map(character => character.charCodeAt(0)));

/** Whether valid JSON has lists and objects within each other more than `levels` deep. */
export function isNestedDeeper(json: string, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}

/** Where the quote stands that ends the text which begins at `start`. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end > 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end;
}

function isEscaped(json: string, at: number): boolean {
  let first = at;
  while (json.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}
