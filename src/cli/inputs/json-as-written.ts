/** JSON with every number and boolean as the text it was written as; undefined where the source is not JSON. */
export function parseJsonAsWritten(source: string): unknown {
  try {
    JSON.parse(source);
  } catch {
    return undefined;
  }
  return JSON.parse(quoteScalars(source)) as unknown;
}

/** Puts quotes around the numbers and booleans of valid JSON, which stand anywhere but inside strings. */
function quoteScalars(json: string): string {
  let quoted = '';
  let from = 0;
  while (from < json.length) {
    const start = json.indexOf('"', from);
    const end = start === -1 ? json.length : endOfString(json, start);
    const between = json.slice(from, start === -1 ? json.length : start);
    quoted += between.replace(/-?\d[\d.eE+-]*|true|false/gu, '"$&"');
    if (start !== -1) quoted += json.slice(start, end);
    from = end;
  }
  return quoted;
}

/** The index after the quote that ends the string starting at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
