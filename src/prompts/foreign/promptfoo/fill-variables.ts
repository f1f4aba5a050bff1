import { splitNunjucks } from './template.ts';

export type Vars = Readonly<Record<string, string>>;

/** Fills in variables; missing ones are empty. */
export function fillVars(text: string, vars: Vars): string {
  return splitNunjucks(text)
    .pieces.map(piece => {
      if ('text' in piece) return piece.text;
      return 'input' in piece && Object.hasOwn(vars, piece.input) ? (vars[piece.input] ?? '') : '';
    })
    .join('');
}

/**
 * Fills in variables within variables as promptfoo does: in each round the first placeholder of each, if it names one,
 * with the `$$` and `$&` of a replacement. @param nulls the variables without a value, which are "null" there
 */
export function resolveVars(vars: Vars, nulls: readonly string[] = []): Vars {
  const result: Record<string, string> = { ...vars };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    let isDone = true;
    for (const [key, text] of Object.entries(result)) {
      const [placeholder, name = ''] = text.length < MAX_LENGTH ? (FIRST.exec(text) ?? []) : [];
      if (placeholder === undefined || !Object.hasOwn(result, name)) continue;
      result[key] = text.replace(placeholder, nulls.includes(name) ? 'null' : (result[name] ?? ''));
      isDone = false;
    }
    if (isDone) break;
  }
  return result;
}

/** Returns a variable as promptfoo puts it into a prompt; undefined if that takes more of Nunjucks than names. */
export function renderVar(text: string, vars: Vars): string | undefined {
  if (!/\{\{|\{%|\{#|#\}/u.test(text) || isUnclosed(text)) return text;
  if (/\{#|#\}|\{%-?\s*for\b/u.test(text)) return undefined;
  if (namesUnknown(text, vars)) return text;
  const { pieces, isPlain } = splitNunjucks(text);
  const isKnown = pieces.every(piece => !('input' in piece) || Object.hasOwn(vars, piece.input));
  return isPlain && isKnown ? fillVars(text, vars) : undefined;
}

/** Returns true if a text has a tag that Nunjucks can't read: promptfoo fails the case, even if nothing uses the text. */
export function isUnreadableNunjucks(text: string, vars: Vars): boolean {
  if (isUnclosed(text) || /\{%-?\s*(?:end)?raw\b/u.test(text) || namesUnknown(text, vars)) return false;
  return (
    /\{\{-?\s*[/>!]/u.test(text) ||
    [...text.matchAll(BLOCKS)].some(([, name = '']) => !KNOWN_BLOCKS.has(name))
  );
}

/** Returns true if a text takes a value from the environment, as promptfoo fills it in when it reads a configuration. */
export function namesEnvironment(text: string): boolean {
  const parts = text.split('}}').slice(0, -1);
  return parts.some(part => part.includes('{{') && /\benv[.[]/u.test(part.slice(part.indexOf('{{'))));
}

/** Returns true if a line ends within a tag: promptfoo leaves such a text as it stands. */
function isUnclosed(text: string): boolean {
  if (/\{%-?\s*(?:end)?raw\b/u.test(text)) return false;
  return text.split(/[\n\r\u2028\u2029]/u).some(line => {
    const [block, comment] = [line.lastIndexOf('{%'), line.lastIndexOf('{#')];
    return (
      line.lastIndexOf('{{') > line.lastIndexOf('}') ||
      (block !== -1 && line.lastIndexOf('%') === block + 1) ||
      (comment !== -1 && line.lastIndexOf('#') === comment + 1)
    );
  });
}

/** Returns true if a tag begins with the name of no variable: promptfoo leaves such a text as it stands. */
function namesUnknown(text: string, vars: Vars): boolean {
  return [...text.matchAll(NAMES)].some(([, first = '', second = '']) => {
    const [root] = /^[A-Za-z_]\w*/u.exec(first || second) ?? [];
    return root !== undefined && root !== 'env' && vars[root] === undefined;
  });
}

/** Matches the first placeholder of a variable. */
const FIRST = /\{\{\s*(\w+)\s*\}\}/u;
/** Matches the tags whose first words promptfoo takes for variables. */
const NAMES = /\{\{\s*([^{}\s|]+)\s*(?:\|[^{}]+)?\}\}|\{%\s*if\s+([A-Za-z_]\w*)\b[^{}%\n]*%\}/gu;
/** Matches the first words of blocks. */
const BLOCKS = /\{%-?\s*(\w*)/gu;
const KNOWN_BLOCKS = new Set(
  'if elif elseif else endif for endfor asyncEach endeach asyncAll endall ifAsync set endset include extends block endblock import from macro endmacro call endcall filter endfilter switch case default endswitch raw endraw verbatim endverbatim'.split(
    ' ',
  ),
);
const MAX_ROUNDS = 5;
/** Maximum length: a variable that contains itself would grow forever. */
const MAX_LENGTH = 100_000;
