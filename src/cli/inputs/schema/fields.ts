/** A text a prompt asks for. */
export interface TextField {
  readonly key: string;
  readonly description?: string;
  /** False where there is a default or it may be left empty. */
  readonly required: boolean;
  /** What the service takes where nothing is given; several choices are joined with `, `. */
  readonly default?: string;
  /** The only values accepted; anything where absent. */
  readonly choices?: readonly string[];
  /** Several choices may be taken, between `min` and `max` of them; one where absent. */
  readonly multiple?: { readonly min?: number; readonly max?: number };
}

/** An image a prompt asks for; all of them are required, in order. */
export interface ImageField {
  readonly description?: string;
}

/** What a prompt asks for, as far as its config says. */
export interface InputFields {
  /** False where the config describes nothing that is known: any input may be right. */
  readonly known: boolean;
  readonly text: readonly TextField[];
  readonly images: readonly ImageField[];
}

/** A text field as a config describes it, without what the config leaves out. */
export function textField(
  key: string,
  said: {
    description?: string | undefined;
    required: boolean;
    default?: string | undefined;
    choices?: readonly string[] | undefined;
    multiple?: TextField['multiple'];
  },
): TextField {
  return {
    key,
    required: said.required && said.default === undefined,
    ...(said.description !== undefined && { description: said.description }),
    ...(said.default !== undefined && { default: said.default }),
    ...(said.choices !== undefined && said.choices.length > 0 && { choices: said.choices }),
    ...(said.multiple !== undefined && { multiple: said.multiple }),
  };
}

export function imageField(description: string | undefined): ImageField {
  return description === undefined ? {} : { description };
}
