import type { JsonValue } from '../files/json.ts';

/** What is filled in when a program or an address is asked. */
export type Placeholder =
  | { readonly name: 'prompt' | 'system' | 'messages' | 'images' | 'here' | 'model' }
  | { readonly name: 'input' | 'env'; readonly key: string };

/** Where an answer has what: each a JMESPath expression over its JSON. */
export interface AnswerFields {
  /** By default the answer is text as it came. */
  readonly output?: string;
  /** What the run cost, in US dollars. */
  readonly cost?: string;
  readonly tokens?: TokenFields;
}

export interface TokenFields {
  readonly input: string;
  readonly output: string;
  /** Those of the input that came from a cache. */
  readonly cached?: string;
}

interface Declaration extends AnswerFields {
  /** The folder of the file that has the entry, absolute. */
  readonly here: string;
  readonly timeoutMs: number;
  /** The placeholders that the entry has. */
  readonly placeholders: readonly Placeholder[];
}

/** A program that answers prompts. */
export interface DeclaredProgram extends Declaration {
  readonly kind: 'program';
  /** With placeholders. */
  readonly argv: readonly [string, ...string[]];
  /** Whether it starts in an empty folder, which is removed afterwards. */
  readonly isTemporary: boolean;
}

/** An address that answers prompts. */
export interface DeclaredAddress extends Declaration {
  readonly kind: 'address';
  readonly method: string;
  /** With placeholders, after scheme, host and port. */
  readonly address: string;
  /** With placeholders in their values. */
  readonly headers: Readonly<Record<string, string>>;
  /** With placeholders in its values; a text is sent as it is, anything else as JSON. */
  readonly body?: JsonValue;
}

export type Declared = DeclaredProgram | DeclaredAddress;

/** Returns true for an entry that has a placeholder of one of these names. */
export function uses({ placeholders }: Declared, ...names: readonly Placeholder['name'][]): boolean {
  return placeholders.some(({ name }) => names.includes(name));
}

/** The variables whose values an entry sends. */
export function variablesOf({ placeholders }: Declared): string[] {
  const names = placeholders.flatMap(one => (one.name === 'env' ? [one.key] : []));
  return [...new Set(names)];
}
