import { isJsonObject } from '../../utils/bounded-json.ts';
import { usageError } from '../core/errors.ts';
import { renderInputText } from '../inputs/json-as-written.ts';

/** The arguments of a tool call, as the client sent them. */
export type ToolArguments = Readonly<Record<string, unknown>>;

export function requireTextArgument(args: ToolArguments, key: string): string {
  const value = args[key];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw usageError(`${key} is missing`);
}

export function readTextsArgument(args: ToolArguments, key: string): string[] {
  const value = args[key] ?? [];
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value;
  throw usageError(`${key} must be a list of strings`);
}

export function readTextMapArgument(args: ToolArguments, key: string): Map<string, string> {
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
