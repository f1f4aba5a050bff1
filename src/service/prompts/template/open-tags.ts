import { BOUNDS } from '../bounds.ts';

/** What shows of a template before it is parsed. */
export interface TagScan {
  /** Where the blocks begin that are open at the end. */
  readonly open: readonly number[];
  /** Where each block that is closed begins, and where its end does. */
  readonly closed: ReadonlyMap<number, number>;
  /** The bound that is passed, and where. */
  readonly past?: { readonly line: number; readonly message: string };
}

interface Tag {
  readonly kind: 'open' | 'else' | 'close' | 'other';
  readonly end: number;
  readonly parentheses: number;
}

/**
 * Looks at the tags of a template before it is parsed: the parser copies its whole stack for each part it reads, so
 * what stands open is bounded, and its search for blank lines is quadratic in the blanks of one run.
 */
export function scanTags(template: string): TagScan {
  const open: { at: number; branches: number }[] = [];
  const closed = new Map<number, number>();
  let branches = 0;
  const line = lineCounter(template);
  for (let at = template.indexOf('{{'); at >= 0; ) {
    const tag = readTag(template, at);
    if (!tag) break;
    if (tag.kind === 'open') open.push({ at, branches: 0 });
    const ended = tag.kind === 'close' ? open.pop() : undefined;
    if (ended) closed.set(ended.at, at);
    branches -= ended?.branches ?? 0;
    const block = open.at(-1);
    if (tag.kind === 'else' && block) {
      block.branches += 1;
      branches += 1;
    }
    const message = pastBound(open.length + branches, tag.parentheses);
    if (message !== undefined) return { open: [], closed, past: { line: line(at), message } };
    at = template.indexOf('{{', tag.end);
  }
  const past = longBlank(template, lineCounter(template));
  return { open: open.map(({ at }) => at), closed, ...(past && { past }) };
}

function pastBound(open: number, parentheses: number): string | undefined {
  const { openBlocks, openParentheses } = BOUNDS;
  if (open > openBlocks) {
    return `more than ${openBlocks} blocks and {{else}} branches are open inside each other`;
  }
  return parentheses > openParentheses
    ? `more than ${openParentheses} parentheses are open inside each other`
    : undefined;
}

/** The tag that begins here; undefined where it never ends, which the parser will report. */
function readTag(template: string, at: number): Tag | undefined {
  const isEscaped = template[at - 1] === '\\' && template[at - 2] !== '\\';
  if (isEscaped) return { kind: 'other', end: at + 2, parentheses: 0 };
  let from = at + 2;
  while (template[from] === '{') from += 1;
  if (template[from] === '~') from += 1;
  if (template[from] === '!') return readComment(template, from);
  return { ...readInside(template, from), kind: kindOf(template, from) };
}

function readComment(template: string, from: number): Tag | undefined {
  const isLong = template.startsWith('!--', from);
  for (let end = template.indexOf('}}', from); end >= 0; end = template.indexOf('}}', end + 1)) {
    const before = template[end - 1] === '~' ? end - 1 : end;
    if (!isLong || template.startsWith('--', before - 2)) {
      return { kind: 'other', end: end + 2, parentheses: 0 };
    }
  }
  return undefined;
}

function kindOf(template: string, from: number): Tag['kind'] {
  const sign = template[from];
  if (sign === '/') return 'close';
  if (sign === '#') return 'open';
  const isElse = /^(?:else\b|\^\s*~?\})/.test(template.slice(from, from + 20).trimStart());
  if (isElse) return 'else';
  return sign === '^' ? 'open' : 'other';
}

/** Up to the end of the tag; of a tag that never ends, up to where that shows. */
function readInside(template: string, from: number): { end: number; parentheses: number } {
  let [depth, parentheses] = [0, 0];
  for (let at = from; at < template.length; at += 1) {
    const sign = template[at] ?? '';
    if (sign === '}' && template[at + 1] === '}') return { end: at + 2, parentheses };
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    parentheses = Math.max(parentheses, depth);
    const close = sign === '[' ? ']' : sign === '"' || sign === "'" ? sign : undefined;
    if (close === undefined) continue;
    at = template.indexOf(close, at + 1);
    while (at > 0 && template[at - 1] === '\\') at = template.indexOf(close, at + 1);
    if (at < 0) break;
  }
  return { end: template.length, parentheses };
}

/** Gives the line of a place; places are asked for in order. */
function lineCounter(text: string): (at: number) => number {
  let [line, next] = [1, text.indexOf('\n')];
  return at => {
    while (next >= 0 && next < at) {
      line += 1;
      next = text.indexOf('\n', next + 1);
    }
    return line;
  };
}

function longBlank(template: string, line: (at: number) => number): TagScan['past'] {
  for (const { 0: run, index } of template.matchAll(/\s+/g)) {
    if (run.length > BOUNDS.blanksInARow) {
      return { line: line(index), message: `there are more than ${BOUNDS.blanksInARow} blanks in a row` };
    }
  }
  return undefined;
}
