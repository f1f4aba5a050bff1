import { type Piece, splitAtInputs } from '../template-pieces.ts';

/** Matches Nunjucks placeholders that prompt files support. */
const VARIABLE = /\{\{[ \t]*([A-Za-z_]\w*)[ \t]*\}\}/u;
/** Matches any Nunjucks tag. */
const TAG = /\{\{|\{%|\{#/u;

export type Vars = Readonly<Record<string, string>>;

/** Splits a text at its placeholders. `isPlain` is false if it has other Nunjucks tags. */
export function splitNunjucks(text: string): { readonly pieces: Piece[]; readonly isPlain: boolean } {
  const pieces = splitAtInputs(text, VARIABLE);
  return { pieces, isPlain: pieces.every(piece => !('text' in piece) || !TAG.test(piece.text)) };
}

/** Fills in variables; missing ones are empty. */
export function fillVars(text: string, vars: Vars): string {
  return splitNunjucks(text)
    .pieces.map(piece => {
      if ('text' in piece) return piece.text;
      return 'input' in piece && Object.hasOwn(vars, piece.input) ? (vars[piece.input] ?? '') : '';
    })
    .join('');
}

/** Fills in variables within variables, repeatedly. */
export function resolveVars(vars: Vars): Vars {
  let result = vars;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const known = result;
    const next = Object.entries(known).map(([key, text]) => {
      const isPlain = splitNunjucks(text).pieces.some(
        piece => 'input' in piece && Object.hasOwn(known, piece.input),
      );
      return [key, isPlain && text.length < MAX_LENGTH ? fillVars(text, known) : text] as const;
    });
    if (next.every(([key, text]) => known[key] === text)) return known;
    result = Object.fromEntries(next);
  }
  return result;
}

const MAX_DEPTH = 5;
/** Maximum length: a variable that contains itself would grow forever. */
const MAX_LENGTH = 100_000;
