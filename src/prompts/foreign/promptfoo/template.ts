import { blockTag, END_MARK, type Piece, splitAtInputs } from '../template-pieces.ts';

/** Matches Nunjucks placeholders that prompt files support. */
const VARIABLE = /\{\{[ \t]*([A-Za-z_]\w*)[ \t]*\}\}/u;
/** Matches comments, and the tags of blocks that test a variable, but not a literal such as `true`. */
const BLOCK =
  /(?<comment>\{#(?:(?!\{#|#\})[^])*#\})|\{%-?\s*(?:(?<word>if|elif|elseif)\s+(?<not>not\s+)?(?<name>(?!(?:true|false|none|null)\b)[A-Za-z_]\w*)(?:\s*(?<operator>[!=]=)\s*(?:"(?<double>[^"\\{}]*)"|'(?<single>[^"'\\{}]*)'))?|(?<end>else|endif))\s*-?%\}/gu;
/** Matches any Nunjucks tag. */
const TAG = /\{\{|\{%|\{#/u;

/** Splits a text at its placeholders. `isPlain` is false if it has other Nunjucks tags. */
export function splitNunjucks(text: string): { readonly pieces: Piece[]; readonly isPlain: boolean } {
  const pieces = splitAtInputs(text, VARIABLE);
  return { pieces, isPlain: pieces.every(piece => !('text' in piece) || !TAG.test(piece.text)) };
}

/**
 * Splits a text at its placeholders and at blocks such as `{% if name %}`, `{% if not name %}` and `{% if name == "x" %}`, with
 * `elif`, `else` and comments. Undefined if it has other Nunjucks tags.
 */
export function splitBlocks(text: string): Piece[] | undefined {
  const pieces: Piece[] = [];
  const open: string[] = [];
  let end = 0;
  let trims = false;
  const addText = (before: string, trimsEnd: boolean): boolean => {
    const start = trims ? before.trimStart() : before;
    const { pieces: plain, isPlain } = splitNunjucks(trimsEnd ? start.trimEnd() : start);
    pieces.push(...plain);
    return isPlain;
  };
  for (const { 0: tag, index, groups = {} } of text.matchAll(BLOCK)) {
    const piece = groups['comment'] === undefined ? blockPiece(groups, open) : END_MARK;
    if (!addText(text.slice(end, index), /^\{[%#]-/u.test(tag)) || !piece) return undefined;
    // Marks keep the line of a tag that stands alone.
    pieces.push(END_MARK, piece, END_MARK);
    trims = /-[%#]\}$/u.test(tag);
    end = index + tag.length;
  }
  return addText(text.slice(end), false) && open.length === 0 ? pieces : undefined;
}

/** Returns our tag for a tag of a block; undefined if there is none. @param open the helpers of the blocks around it */
function blockPiece(
  { word, end, not, name, operator, double, single }: Readonly<Record<string, string | undefined>>,
  open: string[],
): Piece | undefined {
  if (end === 'endif') {
    const helper = open.pop();
    return helper === undefined ? undefined : { tag: `{{/${helper}}}` };
  }
  if (end === 'else') return open.length > 0 ? { tag: '{{else}}' } : undefined;
  if (name === undefined || (not !== undefined && operator !== undefined)) return undefined;
  const isOpposite = not !== undefined || operator === '!=';
  const helper = `${isOpposite ? 'unless' : 'if'}${operator === undefined ? '' : 'Equals'}`;
  if (word === 'if') open.push(helper);
  else if (open.length === 0) return undefined;
  return blockTag(`${word === 'if' ? '#' : 'else '}${helper}`, name, double ?? single);
}
