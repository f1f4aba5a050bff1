const SHOWN_INSTEAD = '[key]';
/** A shorter key than this is masked only where it stands alone: its letters would be found within many words. */
const SAFE_LENGTH = 8;
/** A key that is shorter still is not a secret, and would be found in any text. */
const SHORTEST_SECRET = 4;

/** Masks the key in whatever a server or an intermediary echoed, before anybody can show or log it. */
export class Redaction {
  readonly #pattern: RegExp | undefined;

  constructor(key: string) {
    if (key.length < SHORTEST_SECRET) return;
    const forms = [...new Set([key, encodeURIComponent(key)])].map(escaped).join('|');
    this.#pattern = new RegExp(key.length < SAFE_LENGTH ? `(?<![\\w-])(?:${forms})(?![\\w-])` : forms, 'g');
  }

  /** The text with the key masked, as it is and as it stands in a URL. */
  text(text: string): string {
    return this.#pattern === undefined ? text : text.replace(this.#pattern, SHOWN_INSTEAD);
  }

  /**
   * A value that came as JSON, with the key masked in every text of it, names of fields included; the same object where
   * it doesn't hold the key. The fields named `kept` stay as they came.
   */
  value<T>(value: T, kept?: string): T {
    return this.#isIn(value, kept) ? (this.#masked(value, kept) as T) : value;
  }

  #isIn(value: unknown, kept: string | undefined): boolean {
    if (typeof value === 'string') return this.text(value) !== value;
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value)) return value.some(entry => this.#isIn(entry, kept));
    return Object.entries(value).some(
      ([name, entry]) => this.text(name) !== name || (name !== kept && this.#isIn(entry, kept)),
    );
  }

  #masked(value: unknown, kept: string | undefined): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(entry => this.#masked(entry, kept));
    const fields = Object.entries(value).map(([name, entry]: [string, unknown]) => [
      this.text(name),
      name === kept ? entry : this.#masked(entry, kept),
    ]);
    return Object.fromEntries(fields) as unknown;
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
