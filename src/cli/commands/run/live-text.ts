import type { Connection, Context } from '../../context.ts';
import { visible } from '../../terminal/sanitise.ts';

/** The text of one run, printed while it is made. */
export interface LiveText {
  /** Takes up the run of the creation that is sent with this key. */
  begin(key: string): void;
  /** Whether anything was printed. */
  started(): boolean;
  /** Stops printing; gives what was printed, as it came. */
  end(): Promise<string>;
}

/**
 * Prints the text of a run on the terminal, each piece made harmless by itself. `onFirst` is called before the first.
 *
 * @param connection one that has `onText`, or nothing is ever printed
 */
export function liveText(ctx: Context, connection: Connection, onFirst: () => void): LiveText {
  let key: string | undefined;
  let printed = '';
  let printing = Promise.resolve();
  const stop = connection.onText?.(({ idempotencyKey, text }) => {
    if (key === undefined || idempotencyKey !== key || text === '') return;
    if (printed === '') onFirst();
    printed += text;
    // A closed pipe is found again, and told of, when the rest is printed.
    printing = printing.then(() => print(ctx, text)).catch(() => {});
  });
  return {
    begin: creation => {
      key = creation;
    },
    started: () => printed !== '',
    end: async () => {
      stop?.();
      await printing;
      return printed;
    },
  };
}

async function print({ io }: Context, text: string): Promise<void> {
  await io.out(visible(text));
}
