import { usageError } from '../errors.ts';

/** Splits at the first `=`; everything after it belongs to the value. */
export function parseKeyValue(text: string, flag: string): { readonly key: string; readonly value: string } {
  const at = text.indexOf('=');
  if (at < 1) {
    throw usageError(`${flag} needs key=value, not ${JSON.stringify(text)}`, `For example: ${flag} name=Ada`);
  }
  return { key: text.slice(0, at), value: text.slice(at + 1) };
}

/** Where the value of an `--input` comes from. */
export type ValueSource =
  | { readonly from: 'argument'; readonly value: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'stdin' };

/** `@file` reads a file, `@-` standard input, `@@x` is the literal `@x`; anything else is the value itself. */
export function parseValueSource(value: string): ValueSource {
  if (value.startsWith('@@')) return { from: 'argument', value: value.slice(1) };
  if (value === '@-') return { from: 'stdin' };
  if (value.startsWith('@')) return { from: 'file', path: value.slice(1) };
  return { from: 'argument', value };
}

/** The inverse of `parseValueSource`: how a value is written so that it arrives as it is. */
export function literalValue(value: string): string {
  return value.startsWith('@') ? `@${value}` : value;
}

/** Whether a `key=value` takes its value from standard input. */
export function readsStandardInput(keyValue: string): boolean {
  return keyValue.slice(keyValue.indexOf('=') + 1) === '@-';
}

/** The models of `-m`, which may be repeated and may name several separated by commas; each once. */
export function modelList(values: readonly string[]): string[] {
  const models = values.flatMap(value => value.split(',')).map(model => model.trim());
  return [...new Set(models.filter(model => model !== ''))];
}
