import { didYouMean } from '../../utils/nearest-name.ts';
import type { Model } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { withLocalStore } from '../targets/embedded-store.ts';

/** The key and the value of a flag such as `--input key=value`. */
export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

/**
 * Splits `key=value` at its first `=`.
 *
 * @throws {CliError} USAGE_ERROR if it has no key or no `=`
 */
export function parseKeyValue(text: string, flag: string): KeyValue {
  const separatorIndex = text.indexOf('=');
  if (separatorIndex < 1) {
    const isFile = flag === '--input' && text.startsWith('@');
    throw usageError(
      `${flag} needs key=value, not ${JSON.stringify(text)}`,
      isFile ? 'To read all inputs from a file: --inputs <file>' : `For example: ${flag} name=Ada`,
    );
  }
  return { key: text.slice(0, separatorIndex), value: text.slice(separatorIndex + 1) };
}

export type ValueSource =
  | { readonly from: 'argument'; readonly value: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'stdin' };

/**
 * Parses a value: `@file` is a file, `@-` standard input, `@@x` the literal `@x`; anything else is
 * the value itself.
 */
export function parseValueSource(value: string): ValueSource {
  if (value.startsWith('@@')) return { from: 'argument', value: value.slice(1) };
  if (value === '@-') return { from: 'stdin' };
  if (value.startsWith('@')) return { from: 'file', path: value.slice(1) };
  return { from: 'argument', value };
}

/** Escapes a literal value for `--input`: the inverse of `parseValueSource`. */
export function escapeLiteralValue(value: string): string {
  return value.startsWith('@') ? `@${value}` : value;
}

export function readsStandardInput(keyValue: string): boolean {
  return keyValue.slice(keyValue.indexOf('=') + 1) === '@-';
}

/**
 * Refuses an input or image from standard input if the rows of `--from` are read from it.
 *
 * @throws {CliError} USAGE_ERROR
 */
export function refuseSecondStdinReader({
  from,
  input,
  image,
}: {
  readonly from?: string;
  readonly input: readonly string[];
  readonly image: readonly string[];
}): void {
  if (from === '-' && (input.some(readsStandardInput) || image.includes('-'))) {
    throw usageError(
      'standard input can be read only once, and --from - reads it',
      'Give the other one from a file.',
    );
  }
}

/**
 * Returns the models of `-m`, which is repeatable and takes several separated by commas, without
 * duplicates.
 */
export function parseModelNames(values: readonly string[]): string[] {
  const models = values.flatMap(value => value.split(',')).map(model => model.trim());
  // An empty shell variable must not run the prompt's own model.
  if (values.some(value => /^[\s,]*$/u.test(value))) {
    throw usageError('--model: the name of the model is empty');
  }
  return [...new Set(models.filter(model => model !== ''))];
}

/** Parses all `-o key=value`; the last one of a key wins. */
export function parseOptions(pairs: readonly string[]): Map<string, string> {
  const options = pairs.map(pair => parseKeyValue(pair, '--option'));
  return new Map(options.map(({ key, value }) => [key, value]));
}

interface CheckedOptions {
  readonly promptVersionId: string;
  readonly options: ReadonlyMap<string, string>;
  /** Hints on how to send them anyway; default none, for commands without `--no-validate`. */
  readonly bypassHints?: readonly string[];
}

/**
 * Refuses a run option that the prompt's model does not accept. Only the embedded service knows the
 * prompt's model; for others, an option that any model lists is accepted, after one refresh of the
 * cache.
 *
 * @throws {CliError} USAGE_ERROR that names the accepted options
 */
export async function checkOptions(
  ctx: Context,
  connection: Connection,
  { promptVersionId, options, bypassHints = [] }: CheckedOptions,
): Promise<void> {
  const { signal } = ctx;
  if (options.size === 0 || connection.recorder?.mode === 'replay') return;

  if (connection.isEmbedded) {
    return withLocalStore(ctx, store =>
      store.checkRunOptions(promptVersionId, Object.fromEntries(options)),
    );
  }

  const isCached = connection.resources.getCached() !== undefined;
  const models = await connection.resources.getModels({ signal });
  const error = findOptionError(models, options, bypassHints);
  if (error === undefined) return;
  if (!isCached) throw error;

  const currentModels = await connection.resources.getModels({ refresh: true, signal });
  const currentError = findOptionError(currentModels, options, bypassHints);
  if (currentError !== undefined) throw currentError;
}

/** Returns the error for the first option that no model accepts; undefined if all are accepted. */
function findOptionError(
  models: readonly Model[],
  options: ReadonlyMap<string, string>,
  bypassHints: readonly string[],
): CliError | undefined {
  const acceptedValues = collectAcceptedOptions(models);
  for (const [key, value] of options) {
    const values = acceptedValues.get(key);
    if (values === undefined) {
      return unknownOptionError(key, [...acceptedValues.keys()], bypassHints);
    }

    if (!values.has(value)) {
      return unknownValueError(key, { value, values: [...values] }, bypassHints);
    }
  }
  return undefined;
}

/** Returns the values that any of the models accepts, by option. */
export function collectAcceptedOptions(models: readonly Model[]): Map<string, Set<string>> {
  const acceptedValues = new Map<string, Set<string>>();
  for (const { key, options } of models.flatMap(model => model.availableRunOptions)) {
    acceptedValues.set(key, new Set([...(acceptedValues.get(key) ?? []), ...options]));
  }
  return acceptedValues;
}

function unknownOptionError(
  key: string,
  keys: readonly string[],
  bypassHints: readonly string[],
): CliError {
  const acceptedKeys = keys.toSorted();
  const acceptedText =
    keys.length === 0 ? 'No model lists any.' : `Accepted keys: ${acceptedKeys.join(', ')}`;
  const message = `no model lists the run option ${JSON.stringify(key)}${didYouMean(key, keys)}`;
  return refusedOptionError(message, [acceptedText, ...bypassHints], acceptedKeys);
}

function unknownValueError(
  key: string,
  { value, values }: { readonly value: string; readonly values: readonly string[] },
  bypassHints: readonly string[],
): CliError {
  const message = `no model lists ${JSON.stringify(value)} for the run option ${key}${didYouMean(value, values)}`;
  return refusedOptionError(
    message,
    [`Accepted values: ${values.join(', ')}`, ...bypassHints],
    values,
  );
}

/**
 * Returns the error for an option. Its JSON form has no hints, so the accepted values are also its
 * data.
 */
function refusedOptionError(
  message: string,
  hints: readonly string[],
  acceptedValues: readonly string[],
): CliError {
  return new CliError(message, {
    status: 'USAGE_ERROR',
    exitCode: EXIT.usage,
    hints,
    data: { accepted: acceptedValues },
  });
}
