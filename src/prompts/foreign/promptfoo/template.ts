import { type Piece, piecesOf } from '../as-template.ts';

/** The placeholders of Nunjucks that a prompt file can have too. */
const VARIABLE = /\{\{[ \t]*([A-Za-z_]\w*)[ \t]*\}\}/u;
/** What else Nunjucks has between braces. */
const TAG = /\{\{|\{%|\{#/u;

export type Vars = Readonly<Record<string, string>>;

/** A text of promptfoo, and whether Nunjucks would do more with it than put variables in. */
export function nunjucks(text: string): { readonly pieces: Piece[]; readonly isPlain: boolean } {
  const pieces = piecesOf(text, VARIABLE);
  return { pieces, isPlain: pieces.every(piece => !('text' in piece) || !TAG.test(piece.text)) };
}

/** Puts variables in; one that there is not is empty. */
export function render(text: string, vars: Vars): string {
  return nunjucks(text)
    .pieces.map(piece => {
      if ('text' in piece) return piece.text;
      return 'input' in piece && Object.hasOwn(vars, piece.input) ? (vars[piece.input] ?? '') : '';
    })
    .join('');
}

/** Variables in variables, which may be in variables in turn. */
export function resolved(vars: Vars): Vars {
  let result = vars;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const known = result;
    const next = Object.entries(known).map(([key, text]) => {
      const isPlain = nunjucks(text).pieces.some(
        piece => 'input' in piece && Object.hasOwn(known, piece.input),
      );
      return [key, isPlain && text.length < MAX_LENGTH ? render(text, known) : text] as const;
    });
    if (next.every(([key, text]) => known[key] === text)) return known;
    result = Object.fromEntries(next);
  }
  return result;
}

const MAX_DEPTH = 5;
/** A variable that holds itself would grow without end. */
const MAX_LENGTH = 100_000;
