import { usageError } from '../../errors.ts';

type Fields = Map<string, string | Fields>;

/** Fields as the object they describe: `a=1` is a field, `a[b]=1` a field of an object. Every value is a string. */
export function fieldsAsObject(fields: readonly { readonly key: string; readonly value: string }[]): object {
  const root: Fields = new Map();
  for (const { key, value } of fields) put(root, keyPath(key), value, key);
  return toObject(root);
}

function keyPath(key: string): string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]+\])*)$/u.exec(key);
  if (match === null)
    throw usageError(`--field: ${JSON.stringify(key)} is no field name`, 'write a=1 or a[b]=1');
  const [, first = '', rest = ''] = match;
  return [first, ...rest.split(/[[\]]+/u).filter(Boolean)];
}

function put(into: Fields, [first = '', ...rest]: readonly string[], value: string, key: string): void {
  const there = into.get(first);
  if (rest.length === 0 && there === undefined) {
    into.set(first, value);
    return;
  }
  if (rest.length === 0 || typeof there === 'string') throw usageError(`--field: ${key} is given twice`);
  const inner = there ?? new Map<string, string | Fields>();
  into.set(first, inner);
  put(inner, rest, value, key);
}

/** `Object.fromEntries` makes own fields of names such as `__proto__`. */
function toObject(fields: Fields): object {
  return Object.fromEntries(
    [...fields].map(([key, value]) => [key, typeof value === 'string' ? value : toObject(value)]),
  );
}
