import { BOUNDS } from '../bounds.ts';
import type { Findings } from '../findings.ts';
import type { PartialLookup } from './syntax.ts';

/** How often partials are read again to see which inputs they use in another context. */
const MAX_READINGS = 300;

/** The partials a prompt uses, within their bounds. */
export class PartialLibrary {
  readonly #texts = new Map<string, string>();
  readonly #readings = new Set<string>();
  readonly #findings: Findings;
  #bytes = 0;

  constructor(
    readonly find: PartialLookup,
    findings: Findings,
  ) {
    this.#findings = findings;
  }

  /** Keeps a partial; whether it has not been read yet in a context of this key. */
  take(name: string, text: string, contextKey: string): boolean {
    const reading = `${name}\n${contextKey}`;
    if (this.#readings.has(reading) || this.#readings.size >= MAX_READINGS) return false;
    this.#readings.add(reading);
    if (!this.#texts.has(name) && !this.#isWithinBounds(text)) return false;
    this.#texts.set(name, text);
    return true;
  }

  texts(): Record<string, string> {
    return Object.fromEntries([...this.#texts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #isWithinBounds(text: string): boolean {
    this.#bytes += Buffer.byteLength(text);
    const { partials, partialBytes } = BOUNDS;
    if (this.#texts.size < partials && this.#bytes <= partialBytes) return true;
    const what = `the prompt uses more than ${partials} partials or ${partialBytes / 1024} KiB of them`;
    this.#findings.fault({ line: 1, column: 1 }, what);
    return false;
  }
}
