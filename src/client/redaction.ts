const SHOWN_INSTEAD = '[key]';
// A shorter key is no secret, and its letters would be found in any text.
const SHORTEST_SECRET = 8;

/** Takes the key out of what a server or an intermediary echoed. */
export class Redaction {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  text(text: string): string {
    return this.#key.length < SHORTEST_SECRET ? text : text.replaceAll(this.#key, SHOWN_INSTEAD);
  }

  /** The same for a value that came as JSON. */
  value<T>(value: T): T {
    const text = JSON.stringify(value);
    const redacted = this.text(text);
    return redacted === text ? value : (JSON.parse(redacted) as T);
  }
}
