import type { AddCriterionNote } from './criterion.ts';
import { isReference, type Reference, type TextPart } from './row-references.ts';

/** The answer, or a part of it. */
export type AnswerPart = Pick<Reference, 'path'>;

/**
 * Returns the part of the answer that texts refer to. If they refer to none, to several or to one
 * that an expectation can't check, adds a note and returns undefined.
 */
export function findAnswerPart(
  parts: readonly TextPart[],
  addNote: AddCriterionNote,
): AnswerPart | undefined {
  const answerParts = parts.filter(part => isReference(part, 'sample'));
  const [first] = answerParts;
  if (!first) {
    addNote('checks the row and not the answer: it is left out');
  } else if (!answerParts.every(({ path }) => path.join('.') === first.path.join('.'))) {
    addNote('refers to several parts of the answer: it is left out');
  } else if (findAnswerCode(first) === undefined) {
    addNote(
      `refers to \`sample.${first.path.join('.')}\`, which has no equivalent: it is left out`,
    );
  } else {
    return first;
  }

  return undefined;
}

/** Returns JavaScript for the answer or a part of it; undefined if promptrun has no such part. */
export function findAnswerCode({ path: [kind, ...path] }: AnswerPart): string | undefined {
  if (kind === 'output_text' && path.length === 0) return 'output';
  if (kind !== 'output_json') return undefined;

  const value = `JSON.parse(output)${path.map(step => `?.[${JSON.stringify(step)}]`).join('')}`;
  return `(value => typeof value === 'string' ? value : JSON.stringify(value) ?? '')(${value})`;
}

/** Returns the `transform` that selects a part of the answer; no field for the whole answer. */
export function toAnswerTransform(answer: AnswerPart): { readonly transform?: string } {
  const code = findAnswerCode(answer) ?? 'output';
  return code === 'output' ? {} : { transform: code };
}
