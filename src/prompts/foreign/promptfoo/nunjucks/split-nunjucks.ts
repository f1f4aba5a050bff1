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
export const NUNJUCKS_TAG = /\{\{|\{%|\{#/u;

/** Splits a text at its placeholders. `isPlain` is false if it has other Nunjucks tags. */
export function splitNunjucks(text: string): {
  readonly pieces: Piece[];
  readonly isPlain: boolean;
} {
  const pieces = splitAtInputs(text, NUNJUCKS_VARIABLE);
  return {
    pieces,
    isPlain: pieces.every(piece => !('text' in piece) || !NUNJUCKS_TAG.test(piece.text)),
  };
}

/**
 * Splits a text at its placeholders and at blocks such as `{% if name %}`, `{% if not name %}` and
 * `{% if name == "x" %}`, with `elif`, `else` and comments. Returns undefined if it has other
 * Nunjucks tags.
 */
export function splitBlocks(text: string): Piece[] | undefined {
  const pieces: Piece[] = [];
  const blockTags = new BlockTagConverter();
  let textStart = 0;
  let previousTag = '';
  for (const { 0: tag, index, groups = {} } of text.matchAll(BLOCK)) {
    const piece = groups['comment'] === undefined ? blockTags.convert(groups) : END_MARK;
    const before = splitNunjucks(trimBetween(text.slice(textStart, index), previousTag, tag));
    if (!before.isPlain || !piece) return undefined;

    // Marks keep the line of a tag that stands alone.
    pieces.push(...before.pieces, END_MARK, piece, END_MARK);
    previousTag = tag;
    textStart = index + tag.length;
  }

  const after = splitNunjucks(trimBetween(text.slice(textStart), previousTag, ''));
  if (!after.isPlain || blockTags.hasOpenBlock) return undefined;
  return [...pieces, ...after.pieces];
}

/** Trims a text at the tags that ask for it: after `-%}` or `-#}`, and before `{%-` or `{#-`. */
function trimBetween(text: string, previousTag: string, nextTag: string): string {
  const trimmedStart = /-[%#]\}$/u.test(previousTag) ? text.trimStart() : text;
  return /^\{[%#]-/u.test(nextTag) ? trimmedStart.trimEnd() : trimmedStart;
}

/** The parts of a block's tag, by their names in `BLOCK`. */
type BlockTag = Readonly<Record<string, string | undefined>>;

/** Converts the tags of blocks to those of our helpers, in their order in a text. */
class BlockTagConverter {
  /** The helpers of the blocks that are open, the innermost last. */
  readonly #openHelpers: string[] = [];

  get hasOpenBlock(): boolean {
    return this.#openHelpers.length > 0;
  }

  /** Returns our tag for a tag of a block; undefined if there is none. */
  convert(tag: BlockTag): Piece | undefined {
    if (tag['end'] === 'endif') return this.#closeBlock();
    if (tag['end'] === 'else') return this.hasOpenBlock ? { tag: '{{else}}' } : undefined;
    return this.#convertCondition(tag);
  }

  #closeBlock(): Piece | undefined {
    const helper = this.#openHelpers.pop();
    return helper === undefined ? undefined : { tag: `{{/${helper}}}` };
  }

  /** Opens a block with `if`, or continues one with `elif`. */
  #convertCondition(tag: BlockTag): Piece | undefined {
    const { word, name } = tag;
    const helper = findConditionHelper(tag);
    if (name === undefined || helper === undefined) return undefined;

    const comparedText = tag['double'] ?? tag['single'];
    if (word === 'if') {
      this.#openHelpers.push(helper);
      return createBlockTag(`#${helper}`, name, comparedText);
    }
    return this.hasOpenBlock ? createBlockTag(`else ${helper}`, name, comparedText) : undefined;
  }
}

/**
 * Returns our helper for a condition; undefined for `not` with a comparison, because Nunjucks then
 * negates only the name.
 */
function findConditionHelper({ not, operator }: BlockTag): string | undefined {
  if (operator === undefined) return not === undefined ? 'if' : 'unless';
  if (not !== undefined) return undefined;
  return operator === '!=' ? 'unlessEquals' : 'ifEquals';
}
