/** Matches the rest of a tag such as `{{ name }}` and `{{ name | upper }}`, after its braces. */
const INSERTED_NAME = /^\s*(?<name>[^{}\s|]+)\s*(?:\|[^}]+)?\}\}/u;

/** Matches the rest of a tag such as `{% if name %}` and `{% for name in names %}`. */
const TESTED_NAME = /^\s*(?:if|for)\s+(?<name>[^{}\s]+)/u;

/** Matches the rest of a tag such as `{% for name in names %}`. */
const LOOP = /^\s*for\s+(?<item>\w+)\s+in\s+(?<list>\w+)\s*%\}/u;

/** Matches the first placeholder of a text, such as `{{ name }}`. */
const FIRST_PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/u;

/** Maximum number of rounds in which promptfoo fills in variables. */
const MAX_FILLING_ROUNDS = 5;

/** Maximum length of a text that is filled in: one that contains itself would grow forever. */
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

/** Returns true if a line ends within a tag. promptfoo leaves such a text as it stands. */
export function hasUnclosedTag(text: string): boolean {
  if (/\{%\s*raw\s*%\}/u.test(text) && /\{%\s*endraw\s*%\}/u.test(text)) return false;
  return text.split(/[\n\r\u2028\u2029]/u).some(hasUnclosedLastTag);
}

/** Returns true if no mark ends the last variable, block or comment of a line. */
function hasUnclosedLastTag(line: string): boolean {
  const lastBlock = line.lastIndexOf('{%');
  const lastComment = line.lastIndexOf('{#');
  return (
    line.lastIndexOf('{{') > line.lastIndexOf('}') ||
    (lastBlock !== -1 && line.lastIndexOf('%') === lastBlock + 1) ||
    (lastComment !== -1 && line.lastIndexOf('#') === lastComment + 1)
  );
}

/**
 * Returns true if a tag begins with a name that no variable has. promptfoo leaves such a text as it
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
 * Returns the words of tags that promptfoo reads as names of variables. Of a loop, that is the
 * list, not its item.
 */
function collectTagNames(text: string): Set<string> {
  const blocks = text.split('{%').slice(1);
  const insertedNames = text.split('{{').map(tag => INSERTED_NAME.exec(tag)?.groups?.['name']);
  const testedNames = blocks.map(tag =>
    tag.includes('%}') ? TESTED_NAME.exec(tag)?.groups?.['name'] : undefined,
  );

  const names = new Set(
    [...insertedNames.slice(1), ...testedNames].filter(name => name !== undefined),
  );
  for (const tag of blocks) {
    const { item, list } = LOOP.exec(tag)?.groups ?? {};
    if (item === undefined || list === undefined) continue;
    names.delete(item);
    names.add(list);
  }

  return names;
}

function withoutComments(text: string): string {
  let textSoFar = '';
  let remainder = text;
  let comment = findComment(remainder);
  while (comment) {
    textSoFar += remainder.slice(0, comment.start);
    remainder = remainder.slice(comment.end);
    comment = findComment(remainder);
  }

  return textSoFar + remainder;
}

/** Returns the offsets of the first comment; undefined if there is none, or if it is not closed. */
function findComment(text: string): { readonly start: number; readonly end: number } | undefined {
  const start = text.indexOf('{#');
  const close = start === -1 ? -1 : text.indexOf('#}', start + 2);
  return close === -1 ? undefined : { start, end: close + 2 };
}
