import type { TemplateNode } from './template-node.ts';

/** A text a prompt asks for. */
export interface TextInput {
  readonly key: string;
  readonly description?: string;
  /** Neither marked `?` nor defaulted. */
  readonly required: boolean;
  readonly default?: string;
  /** The only values accepted. */
  readonly enum?: readonly string[];
}

/** A picture a prompt asks for; always required. */
export interface ImageInputField {
  readonly key: string;
  readonly description?: string;
}

/** What a prompt file says. */
export interface PromptDefinition {
  /** The file's name without `.prompt`. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly model: string;
  /** Default run options, from `config`. */
  readonly runOptions: Readonly<Record<string, string>>;
  /** In schema order. */
  readonly textInputs: readonly TextInput[];
  /** In schema order, which is the order of `imageInputs` of a run. */
  readonly imageInputs: readonly ImageInputField[];
  /** The whole file, without byte-order mark and with line feeds only: equal sources are one version. */
  readonly source: string;
  readonly template: string;
  readonly body: readonly TemplateNode[];
  /** Lines of the file, for faults that only show once the models are known. */
  readonly lines: { readonly model: number; readonly runOptions: Readonly<Record<string, number>> };
}

/** A prompt file that can't be used. The message is `file:line: what`. */
export class InvalidPromptFile extends Error {
  override readonly name = 'InvalidPromptFile';

  constructor(
    readonly file: string,
    readonly line: number,
    readonly what: string,
  ) {
    super(`${file}:${line}: ${what}`);
  }
}
