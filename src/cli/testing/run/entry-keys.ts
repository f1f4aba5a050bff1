import { createHash } from 'node:crypto';
import { compareByKey } from '../../../files/formats/json-fields.ts';
import { getRequestContent, type RunRequest } from '../../inputs/request-body.ts';
import type { TestCase, TestFile } from '../cases/test-case.ts';
import type { TestEntry } from '../entry-result.ts';

/** Maximum length of an input that is compared by its text; longer ones by their length only. */
const MAX_COMPARED_LENGTH = 1000;

/** The parts of an entry that its keys are made from. */
export interface KeyedEntry {
  readonly entry: TestEntry;
  readonly request: RunRequest;
  /**
   * The entry of its model in the configuration, as JSON; undefined if the configuration has none.
   */
  readonly declaration: string | undefined;
}

/**
 * Returns a key of a case from its target, model, inputs and options, but not from its number or
 * name.
 */
export function computeContentKey({
  entry: { file, model },
  request,
  declaration,
}: KeyedEntry): string {
  return hashContent([
    file.target,
    request.promptVersionId,
    model ?? null,
    ...getRequestContent(request),
    ...(declaration === undefined ? [] : [declaration]),
  ]);
}

/**
 * Returns a key of the file, name and model of a case, which stays the same if the prompt or the
 * case is edited. Its inputs and options replace a missing name, and a number distinguishes equal
 * entries that test the same model.
 */
export function computeNameKey({
  entry: { file, testCase, model, testedModel },
  request,
}: KeyedEntry): string {
  const identity = testCase.isNumbered ? getRequestContent(request) : testCase.name;
  return hashContent([file.path, identity, model ?? null, testedModel?.number ?? null]);
}

function hashContent(content: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

/**
 * Returns a key of a case that is not prepared yet. Equal cases share it, and few others: of a long
 * input it has only the length. It isn't hashed, because it is not stored.
 */
export function computeRoughKey({ target }: TestFile, { text, images, options }: TestCase): string {
  const abbreviate = (value: string): string =>
    value.length > MAX_COMPARED_LENGTH ? `${value.length} characters` : value;
  const inputs = [...text].map(([key, value]) => [key, abbreviate(value)] as const);
  return JSON.stringify([
    target,
    inputs.toSorted(compareByKey),
    images.length,
    [...options].toSorted(compareByKey),
  ]);
}
