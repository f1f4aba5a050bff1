import { hasUnclosedTag, mentionsUnknownVariable } from './resolve-variables.ts';
import { splitNunjucks } from './split-nunjucks.ts';

/** Matches the tag of a block up to its first word, which is the block's name. */
const BLOCK_NAME = /\{%-?\s*(\w*)/gu;

/** The names of blocks that Nunjucks knows. */
const KNOWN_BLOCK_NAMES = new Set(
  'if elif elseif else endif for endfor asyncEach endeach asyncAll endall ifAsync set endset include extends block endblock import from macro endmacro call endcall filter endfilter switch case default endswitch raw endraw verbatim endverbatim'.split(
    ' ',
  ),
);

/** The texts of variables, by name. */
export type VariableTexts = Readonly<Record<string, string>>;

/** Fills in variables; missing ones are empty. */
export function fillVariables(text: string, vars: VariableTexts): string {
  return splitNunjucks(text)
    .pieces.map(piece => {
      if ('text' in piece) return piece.text;
      return 'input' in piece && Object.hasOwn(vars, piece.input) ? (vars[piece.input] ?? '') : '';
    })
    .join('');
}

/**
 * Returns the text of a variable as promptfoo puts it into a prompt; undefined if only Nunjucks can
 * render it.
 */
export function renderVariable(text: string, vars: VariableTexts): string | undefined {
  if (!/\{\{|\{%|\{#|#\}/u.test(text) || hasUnclosedTag(text)) return text;
  if (mentionsUnknownVariable(text, vars)) return text;
  const { pieces, isPlain } = splitNunjucks(text);
  const hasAllVariables = pieces.every(
    piece => !('input' in piece) || Object.hasOwn(vars, piece.input),
  );
  return isPlain && hasAllVariables ? fillVariables(text, vars) : undefined;
}

/**
 * Returns true if a text has a tag that Nunjucks can't read: promptfoo fails the case, even if
 * nothing uses the text.
 */
export function hasUnreadableTag(text: string, vars: VariableTexts): boolean {
  if (
    hasUnclosedTag(text) ||
    /\{%-?\s*(?:end)?raw\b/u.test(text) ||
    mentionsUnknownVariable(text, vars)
  ) {
    return false;
  }
  return (
    /\{\{-?\s*[/>!]/u.test(text) ||
    [...text.matchAll(BLOCK_NAME)].some(([, name = '']) => !KNOWN_BLOCK_NAMES.has(name))
  );
}

/**
 * Returns true if a text uses an environment variable, which promptfoo fills in when it reads the
 * configuration.
 */
export function mentionsEnvironment(text: string): boolean {
  const parts = text.split('}}').slice(0, -1);
  return parts.some(
    part => part.includes('{{') && /\benv[.[]/u.test(part.slice(part.indexOf('{{'))),
  );
}
