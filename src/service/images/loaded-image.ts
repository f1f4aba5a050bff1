/** A picture given as an input, known to be one by its content. */
export interface LoadedImage {
  readonly bytes: Buffer;
  /** For example `image/png`. */
  readonly mediaType: string;
}

/** A picture that can't be used as an input. */
export class InvalidImage extends Error {
  override readonly name = 'InvalidImage';

  constructor(
    /** From 0. */
    readonly index: number,
    /** For example `inputs.imageInputs[0].url`. */
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}
