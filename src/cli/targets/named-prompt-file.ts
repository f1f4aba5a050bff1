/** The separator between a file and its revision. */
export const REVISION_MARK = '@git:';

/** A prompt file that a target names. */
export interface NamedPromptFile {
  /** The file as the command line names it, for messages. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** The git revision of the file; undefined for the working copy. */
  readonly revision: string | undefined;
}
