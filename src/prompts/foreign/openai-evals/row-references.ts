import { type EvaluationRow, getRowText } from './evaluation-rows.ts';

/** A reference to the row (`item`) or to the answer (`sample`), with its path. */
export interface Reference {
  readonly source: 'item' | 'sample';
  readonly path: readonly string[];
}

/** A part of a text: plain text, or a reference. */
export type TextPart = { readonly text: string } | Reference;

const REFERENCE = /\{\{\s*(?<source>item|sample)(?<path>(?:\.[\p{L}\p{N}_-]+|\[\d+\])+)\s*\}\}/gu;

/** Splits a text at its references. Other braces are text. */
export function splitAtReferences(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let textStart = 0;
  for (const { 0: referenceText, index, groups } of text.matchAll(REFERENCE)) {
    const path = (groups?.['path'] ?? '').split(/[.[\]]+/u).filter(step => step !== '');
    parts.push(
      { text: text.slice(textStart, index) },
      { source: groups?.['source'] === 'item' ? 'item' : 'sample', path },
    );
    textStart = index + referenceText.length;
  }

  return [...parts, { text: text.slice(textStart) }].filter(
    part => !('text' in part) || part.text !== '',
  );
}

export function isReference(part: TextPart, source: Reference['source']): part is Reference {
  return 'source' in part && part.source === source;
}

/** Returns a text with the fields of a row, and with `answer` for references to the answer. */
export function fillReferences(
  parts: readonly TextPart[],
  row: EvaluationRow,
  answer: string,
): string {
  const texts = parts.map(part => {
    if ('text' in part) return part.text;
    return part.source === 'item' ? getRowText(row, part.path) : answer;
  });
  return texts.join('');
}
