/** A name that points to one version of a prompt. */
export interface PromptLabel {
  label: string;
  promptVersionId: string;
}

/** A change of a label: set, moved or, with `to` null, removed. */
export interface LabelMove {
  label: string;
  /** ISO 8601. */
  at: string;
  /** The name of the user who made the change. */
  by: string;
  /** The version that it pointed to before; null if the label was new. */
  from: string | null;
  to: string | null;
}

/** Matches 1 to 64 letters, digits and inner hyphens, such as `blue-2`. */
const LABEL_NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const UUID_LENGTH = 36;
const HYPHEN_INDEXES: ReadonlySet<number> = new Set([8, 13, 18, 23]);

/** Explains why a text can't be a label; undefined if it can. */
export function findLabelFault(label: string): string | undefined {
  if (!LABEL_NAME.test(label)) {
    return 'a label is 1 to 64 of the characters a–z, 0–9 and, within it, hyphens';
  }
  if (!canBeginUuid(label)) return undefined;
  return 'a label must not look like the beginning of an id, such as dead';
}

function canBeginUuid(text: string): boolean {
  if (text.length > UUID_LENGTH) return false;
  return Array.from(text).every((character, index) =>
    HYPHEN_INDEXES.has(index) ? character === '-' : /[0-9a-f]/.test(character),
  );
}
