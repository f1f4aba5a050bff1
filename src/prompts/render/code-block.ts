/** Returns what stands in the first or the last code block of a text that ends; undefined if there is none. */
export function codeBlock(text: string, which: 'first' | 'last'): string | undefined {
  const lines = text.replace(/\r\n/gu, '\n').split('\n');
  const fences = new Map<string, number[]>();
  const fencesOf = (fence: string): number[] => {
    const known = fences.get(fence) ?? [];
    fences.set(fence, known);
    return known;
  };
  for (const [at, line] of lines.entries()) {
    if (/^`{3,}$/u.test(line)) fencesOf(line).push(at);
  }
  let found: string | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    const [, fence] = /^(`{3,})\w*$/u.exec(lines[at] ?? '') ?? [];
    const ends = fence === undefined ? [] : fencesOf(fence);
    while (ends.length > 0 && Number(ends[0]) <= at) ends.shift();
    const [end] = ends;
    if (end === undefined) continue;
    found = lines.slice(at + 1, end).join('\n');
    if (which === 'first') return found;
    at = end;
  }
  return found;
}
