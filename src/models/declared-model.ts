import type { JsonValue } from '../files/formats/json.ts';

/** A placeholder in the entry of a program or an address. */
export type ProgramPlaceholder =
  | { readonly name: 'prompt' | 'system' | 'messages' | 'images' | 'here' | 'model' }
  | { readonly name: 'input' | 'env'; readonly key: string };

/** JMESPath expressions that select the parts of a JSON answer. */
export interface AnswerFields {
  /** The text; default the whole answer, unparsed. */
  readonly output?: string;
  /** The cost of the run, in US dollars. */
  readonly cost?: string;
  readonly tokens?: TokenFields;
}

/** JMESPath expressions that select token counts. */
export interface TokenFields {
  readonly input: string;
  readonly output: string;
  /** Input tokens that came from a cache. */
  readonly cached?: string;
}

interface Declaration extends AnswerFields {
  /** The absolute folder of the file with the entry. */
  readonly sourceFolder: string;
  readonly timeoutMs: number;
  readonly placeholders: readonly ProgramPlaceholder[];
}

/** A program that answers prompts. */
export interface DeclaredProgram extends Declaration {
  readonly kind: 'program';
  /** The program and its arguments, with placeholders. */
  readonly argv: readonly [string, ...string[]];
  /** True to start it in a temporary folder. */
  readonly usesTemporaryFolder: boolean;
  /** True if it keeps running and answers run after run; default false. */
  readonly isPersistent?: boolean;
}

/** An address that answers prompts. */
export interface DeclaredAddress extends Declaration {
  readonly kind: 'address';
  readonly method: string;
  /** The URL, with placeholders after scheme, host and port. */
  readonly address: string;
  /** Headers, with placeholders in their values. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body, with placeholders in its values. Text is sent as plain text, anything else as JSON.
   */
  readonly body?: JsonValue;
  /**
   * True if the prompt is the JSON of its messages unless it is one text, as promptfoo sends it;
   * default false.
   */
  readonly sendsChatAsJson?: boolean;
}

export type DeclaredModel = DeclaredProgram | DeclaredAddress;

/** Returns true if an entry has a placeholder with one of these names. */
export function usesPlaceholder(
  { placeholders }: DeclaredModel,
  ...names: readonly ProgramPlaceholder['name'][]
): boolean {
  return placeholders.some(({ name }) => names.includes(name));
}

/** Returns the environment variables that an entry sends. */
export function listSentVariables({ placeholders }: DeclaredModel): string[] {
  const names = placeholders.flatMap(placeholder =>
    placeholder.name === 'env' ? [placeholder.key] : [],
  );
  return [...new Set(names)];
}
