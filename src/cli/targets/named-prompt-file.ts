/** Stands between a file and its revision. */
export const REVISION_MARK = '@git:';

/** A prompt file that a target names. */
export interface PromptFile {
  /** As the command line names it, for messages. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** The git revision whose state of the file is meant; the file as it is if undefined. */
  readonly revision: string | undefined;
}
