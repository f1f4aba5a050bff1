/** A key as `node:readline` reports it. */
interface Keypress {
  readonly name?: string;
  readonly sequence?: string;
}

/**
 * Keys that were typed after the Enter of an answer and read together with it. They answer the next
 * question.
 */
export class TypeAheadBuffer {
  #recordedKeys: string[] = [];
  #isAfterEnter = false;
  #isPasting = false;

  readonly record = (_text: unknown, { name, sequence = '' }: Keypress = {}): void => {
    if (name === 'paste-start' || name === 'paste-end') this.#isPasting = name === 'paste-start';

    const isEnter = name === 'return' || name === 'enter';
    if (this.#isAfterEnter) {
      this.#recordedKeys.push(sequence);
    } else if (isEnter && !this.#isPasting) {
      this.#start(sequence);
    }
  };

  /**
   * Returns the keys to the input once the next question listens, because it drops earlier input.
   */
  restore(input: NodeJS.ReadStream): void {
    const [enter, ...keys] = this.#recordedKeys;
    this.#recordedKeys = [];
    // A carriage return and a line feed are one Enter.
    if (enter === '\r' && keys[0] === '\n') keys.shift();
    if (keys.length > 0) setImmediate(() => input.unshift(Buffer.from(keys.join(''))));
  }

  #start(enter: string): void {
    this.#recordedKeys = [enter];
    this.#isAfterEnter = true;
    // The keys of one read are reported in one go.
    setImmediate(() => (this.#isAfterEnter = false));
  }
}
