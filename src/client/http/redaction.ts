const MASK = '[key]';

/** A shorter key is masked only as a whole word, because its letters occur within other words. */
const MIN_SUBSTRING_LENGTH = 8;

/** An even shorter key is not a secret, and its letters occur in any text. */
const MIN_REDACTED_LENGTH = 4;

/**
 * Masks keys in everything that a server or an intermediary echoes, before it can be shown or
 * logged.
 */
export class Redaction {
  readonly #keyPattern: RegExp | undefined;

  constructor(...keys: readonly string[]) {
    const patterns = keys.filter(key => key.length >= MIN_REDACTED_LENGTH).map(buildKeyPattern);
    if (patterns.length > 0) this.#keyPattern = new RegExp(patterns.join('|'), 'g');
  }

  /** Returns the text with the key masked, in plain and URL-encoded form. */
  redactText(text: string): string {
    return this.#keyPattern === undefined ? text : text.replace(this.#keyPattern, MASK);
  }

  /**
   * Returns a JSON value with the key masked in every string, field names included. Returns the
   * same object if it doesn't hold the key. Fields named `unmaskedField` are not masked.
   */
  redactValue<T>(value: T, unmaskedField?: string): T {
    return this.#containsKey(value, unmaskedField)
      ? (this.#maskKey(value, unmaskedField) as T)
      : value;
  }

  #containsKey(value: unknown, unmaskedField: string | undefined): boolean {
    if (typeof value === 'string') return this.redactText(value) !== value;
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value)) return value.some(entry => this.#containsKey(entry, unmaskedField));
    return Object.entries(value).some(
      ([name, entry]) =>
        this.redactText(name) !== name ||
        (name !== unmaskedField && this.#containsKey(entry, unmaskedField)),
    );
  }

  #maskKey(value: unknown, unmaskedField: string | undefined): unknown {
    if (typeof value === 'string') return this.redactText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(entry => this.#maskKey(entry, unmaskedField));

    const fields = Object.entries(value).map(([name, entry]: [string, unknown]) => [
      this.redactText(name),
      name === unmaskedField ? entry : this.#maskKey(entry, unmaskedField),
    ]);
    return Object.fromEntries(fields) as unknown;
  }
}

function buildKeyPattern(key: string): string {
  const spellings = [...new Set([key, encodeURIComponent(key)])].map(escapeForRegExp).join('|');
  return key.length < MIN_SUBSTRING_LENGTH ? `(?<![\\w-])(?:${spellings})(?![\\w-])` : spellings;
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
