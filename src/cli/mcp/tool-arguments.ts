import { isJsonObject } from '../../utils/bounded-json.ts';
import { usageError } from '../core/errors.ts';
import { renderInputText } from '../inputs/json-as-written.ts';

export function requireTextArgument(args: Readonly<Record<string, unknown>>, key: string): string {
  const value = args[key];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw usageError(`${key} is missing`);
}

export function readTextsArgument(args: Readonly<Record<string, unknown>>, key: string): string[] {
  const value = args[key] ?? [];
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value;
  throw usageError(`${key} must be a list of strings`);
}

export function readTextMapArgument(
  args: Readonly<Record<string, unknown>>,
  key: string,
): Map<string, string> {
  const value = args[key] ?? {};
  if (!isJsonObject(value)) throw usageError(`${key} must be an object`);
  return new Map(
    Object.entries(value).map(([name, input]) => {
      const text =
        typeof input === 'number' || typeof input === 'boolean'
          ? String(input)
          : renderInputText(input);
      if (text === undefined) throw usageError(`the value of ${JSON.stringify(name)} is missing`);
      return [name, text];
    }),
  );
}
