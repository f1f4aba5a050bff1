import { createBlockTag, END_MARK, type Piece, splitAtInputs } from '../../template-pieces.ts';

/** Matches Nunjucks placeholders that prompt files support. */
const NUNJUCKS_VARIABLE = /\{\{[ \t]*([A-Za-z_]\w*)[ \t]*\}\}/u;

/**
 * Matches comments, and the tags of blocks that test a variable, such as `{% if name %}`,
 * `{% elif not name %}`, `{% if name == "x" %}` and `{% endif %}`, but not `{% if true %}`.
 */
const BLOCK =
  /(?<comment>\{#(?:(?!\{#|#\})[^])*#\})|\{%-?\s*(?:(?<word>if|elif|elseif)\s+(?<not>not\s+)?(?<name>(?!(?:true|false|none|null)\b)[A-Za-z_]\w*)(?:\s*(?<operator>[!=]=)\s*(?:"(?<double>[^"\\{}]*)"|'(?<single>[^"'\\{}]*)'))?|(?<end>else|endif))\s*-?%\}/gu;

/** Matches any Nunjucks tag. */
export const TAG = /\{\{|\{%|\{#/u;

/** Splits a text at its placeholders. `isPlain` is false if it has other Nunjucks tags. */
export function splitNunjucks(text: string): {
  readonly pieces: Piece[];
  readonly isPlain: boolean;
} {
  const pieces = splitAtInputs(text, NUNJUCKS_VARIABLE);
  return { pieces, isPlain: pieces.every(piece => !('text' in piece) || !TAG.test(piece.text)) };
}

/**
 * Splits a text at its placeholders and at blocks such as `{% if name %}`, `{% if not name %}` and
 * `{% if name == "x" %}`, with `elif`, `else` and comments. Undefined if it has other Nunjucks
 * tags.
 */
export function splitBlocks(text: string): Piece[] | undefined {
  const pieces: Piece[] = [];
  const openHelpers: string[] = [];
  let end = 0;

  let previousTag = '';
  for (const { 0: tag, index, groups = {} } of text.matchAll(BLOCK)) {
    const piece = groups['comment'] === undefined ? convertBlockTag(groups, openHelpers) : END_MARK;
    const before = splitNunjucks(trimBetween(text.slice(end, index), previousTag, tag));
    if (!before.isPlain || !piece) return undefined;

    // Marks keep the line of a tag that stands alone.
    pieces.push(...before.pieces, END_MARK, piece, END_MARK);
    previousTag = tag;
    end = index + tag.length;
  }

  const after = splitNunjucks(trimBetween(text.slice(end), previousTag, ''));
  if (!after.isPlain || openHelpers.length > 0) return undefined;
  return [...pieces, ...after.pieces];
}

/** Trims a text at the tags that ask for it: after `-%}` or `-#}`, and before `{%-` or `{#-`. */
function trimBetween(text: string, previousTag: string, nextTag: string): string {
  const trimmed = /-[%#]\}$/u.test(previousTag) ? text.trimStart() : text;
  return /^\{[%#]-/u.test(nextTag) ? trimmed.trimEnd() : trimmed;
}

/** The parts of a block's tag, by their names in `BLOCK`. */
type BlockTag = Readonly<Record<string, string | undefined>>;

/**
 * Returns our tag for a tag of a block; undefined if there is none.
 *
 * @param openHelpers the helpers of the blocks around it
 */
function convertBlockTag(tag: BlockTag, openHelpers: string[]): Piece | undefined {
  if (tag['end'] === 'endif') return closeBlock(openHelpers);
  if (tag['end'] === 'else') return openHelpers.length > 0 ? { tag: '{{else}}' } : undefined;
  return convertCondition(tag, openHelpers);
}

/** Closes the innermost block. */
function closeBlock(openHelpers: string[]): Piece | undefined {
  const helper = openHelpers.pop();
  return helper === undefined ? undefined : { tag: `{{/${helper}}}` };
}

/** Opens a block with `if`, or continues one with `elif`. */
function convertCondition(tag: BlockTag, openHelpers: string[]): Piece | undefined {
  const { word, name } = tag;
  const helper = findConditionHelper(tag);
  if (name === undefined || helper === undefined) return undefined;

  const isFirst = word === 'if';
  if (isFirst) openHelpers.push(helper);
  else if (openHelpers.length === 0) return undefined;

  return createBlockTag(
    `${isFirst ? '#' : 'else '}${helper}`,
    name,
    tag['double'] ?? tag['single'],
  );
}

/**
 * Returns our helper for a condition; undefined for `not` with a comparison, which negates the name
 * alone.
 */
function findConditionHelper({ not, operator }: BlockTag): string | undefined {
  if (operator === undefined) return not === undefined ? 'if' : 'unless';
  if (not !== undefined) return undefined;
  return operator === '!=' ? 'unlessEquals' : 'ifEquals';
}
