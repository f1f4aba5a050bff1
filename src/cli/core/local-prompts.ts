export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A prompt file, or a version in the local store. */
export type LocalPromptTarget = { readonly file: string } | { readonly promptVersionId: string };

/** A fault keeps a prompt file from being used; a note is only worth knowing. */
export interface PromptFinding {
  readonly severity: 'fault' | 'note';
  /** The prompt's file or that of a partial. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface PreviewInputs {
  /** Taken as they are, numbers as numbers; the value of a picture is its URL, of any kind. */
  readonly inputs?: { readonly [key: string]: JsonValue };
  /** Inputs given as text, which the prompt's schema gives their types, as in a run; they win over `inputs`. */
  readonly texts?: Readonly<Record<string, string>>;
  /** URLs of pictures in the prompt's order, for those that `inputs` does not hold. */
  readonly images?: readonly string[];
}

/** What a model would be sent, in the form of the dotprompt specification. */
export interface PromptPreview {
  readonly messages: readonly object[];
  readonly input?: object;
  readonly output?: object;
  readonly config: object;
  /** As the file has it; left out where it names none. */
  readonly model?: string;
  readonly ext: object;
}

export interface PromptText {
  /** The whole file. */
  readonly source: string;
  /** What stands below the front matter. */
  readonly template: string;
  /** The partials it uses, by name. */
  readonly partials: Readonly<Record<string, string>>;
}
