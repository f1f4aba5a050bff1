const FIRST_PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/u;

const MAX_FILLING_ROUNDS = 5;

/** Maximum length: a variable that contains itself would grow forever. */
const MAX_VARIABLE_LENGTH = 100_000;

/**
 * Fills in variables within variables as promptfoo does. Each round replaces the first placeholder
 * of each text, if it names a variable; `$$` and `$&` have the meaning that they have in `replace`.
 */
export function resolveVariables<V>(
  vars: Readonly<Record<string, V>>,
): Readonly<Record<string, V | string>> {
  const result: Record<string, V | string> = { ...vars };
  for (let round = 0; round < MAX_FILLING_ROUNDS; round += 1) {
    let isDone = true;
    for (const [key, value] of Object.entries(result)) {
      const text = typeof value === 'string' && value.length < MAX_VARIABLE_LENGTH ? value : '';
      const [placeholder, name = ''] = FIRST_PLACEHOLDER.exec(text) ?? [];
      if (placeholder === undefined || !Object.hasOwn(result, name)) continue;
      result[key] = text.replace(placeholder, String(result[name]));
      isDone = false;
    }
    if (isDone) break;
  }
  return result;
}

/** Returns true if a line ends within a tag: promptfoo leaves such a text as it stands. */
export function hasUnclosedTag(text: string): boolean {
  if (/\{%\s*raw\s*%\}/u.test(text) && /\{%\s*endraw\s*%\}/u.test(text)) return false;
  return text.split(/[\n\r\u2028\u2029]/u).some(line => {
    const [block, comment] = [line.lastIndexOf('{%'), line.lastIndexOf('{#')];
    return (
      line.lastIndexOf('{{') > line.lastIndexOf('}') ||
      (block !== -1 && line.lastIndexOf('%') === block + 1) ||
      (comment !== -1 && line.lastIndexOf('#') === comment + 1)
    );
  });
}

/**
 * Returns true if a tag begins with the name of no variable: promptfoo leaves such a text as it
 * stands.
 */
export function mentionsUnknownVariable(
  text: string,
  vars: Readonly<Record<string, unknown>>,
): boolean {
  return [...collectTagNames(withoutComments(text))].some(name => {
    const [root] = /^[A-Za-z_]\w*/u.exec(name) ?? [];
    return root !== undefined && root !== 'env' && vars[root] === undefined;
  });
}

/**
 * Returns the first words of tags that promptfoo reads as variables: for a loop, the list instead
 * of its items.
 */
function collectTagNames(text: string): Set<string> {
  const blocks = text.split('{%').slice(1);
  const insertedNames = text
    .split('{{')
    .map(tag => /^\s*([^{}\s|]+)\s*(?:\|[^}]+)?\}\}/u.exec(tag)?.[1]);
  const testedNames = blocks.map(tag =>
    tag.includes('%}') ? /^\s*(?:if|for)\s+([^{}\s]+)/u.exec(tag)?.[1] : undefined,
  );

  const names = new Set(
    [...insertedNames.slice(1), ...testedNames].filter(name => name !== undefined),
  );
  for (const tag of blocks) {
    const [, item, list] = /^\s*for\s+(\w+)\s+in\s+(\w+)\s*%\}/u.exec(tag) ?? [];
    if (item === undefined || list === undefined) continue;
    names.delete(item);
    names.add(list);
  }

  return names;
}

function withoutComments(text: string): string {
  let textSoFar = '';
  let remainder = text;
  for (;;) {
    const start = remainder.indexOf('{#');
    const end = start === -1 ? -1 : remainder.indexOf('#}', start + 2);
    if (end === -1) return textSoFar + remainder;
    textSoFar += remainder.slice(0, start);
    remainder = remainder.slice(end + 2);
  }
}
