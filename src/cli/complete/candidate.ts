/** Something the word under the cursor may become. */
export interface Candidate {
  /** The whole word, unquoted. */
  readonly value: string;
  readonly description?: string;
  /** Whether the word goes on after it, as after `key=` or a directory: no space is added. */
  readonly goesOn?: boolean;
}
