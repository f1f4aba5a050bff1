import { createHash } from 'node:crypto';
import { compareByKey } from '../../../files/formats/json-fields.ts';
import { getRequestContent, type RunRequest } from '../../inputs/request-body.ts';
import type { TestCase, TestFile } from '../cases/test-case.ts';
import type { TestEntry } from '../entry-result.ts';

/** The parts of an entry that its keys are made from. */
export interface KeyedEntry {
  readonly entry: TestEntry;
  readonly request: RunRequest;
  /**
   * The entry of its model in the configuration, as JSON; undefined if that declares no such model.
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
 * case is edited; without a name, its inputs and options stand for it.
 */
export function computeNameKey({
  entry: { file, testCase, model, tested },
  request,
}: KeyedEntry): string {
  const name = testCase.isNumbered ? getRequestContent(request) : testCase.name;
  return hashContent([file.file, name, model ?? null, tested?.number ?? null]);
}

function hashContent(content: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

const MAX_COMPARED = 1000;

/**
 * Returns a key, made before the case is prepared, that equal cases share, and few others. The
 * length of a long input stands for it, to save a copy.
 */
export function computeRoughKey({ target }: TestFile, { text, images, options }: TestCase): string {
  const abbreviate = (value: string): string =>
    value.length > MAX_COMPARED ? `${value.length} characters` : value;
  const inputs = [...text].map(([key, value]) => [key, abbreviate(value)] as const);
  return JSON.stringify([
    target,
    inputs.toSorted(compareByKey),
    images.length,
    [...options].toSorted(compareByKey),
  ]);
}
