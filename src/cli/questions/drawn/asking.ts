import { QuestionLeft, usageError } from '../../errors.ts';
import type { PrompterOptions } from '../types.ts';
import { type QuestionScreen, questionScreen } from './question-screen.ts';

/** Where a question reads, draws and hears that it is no longer wanted. */
export interface Place {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
  /** A question that was interrupted leaves nothing on the screen. */
  readonly clearPromptOnDone: boolean;
  readonly screen: QuestionScreen;
}

/** Asks one question; Ctrl-C, Ctrl-D, a terminal that goes away and an aborted signal all throw `Interrupted`. */
export async function asking<T>(
  terminal: Pick<PrompterOptions, 'io' | 'env'>,
  signal: AbortSignal,
  ask: (place: Place) => Promise<T>,
): Promise<T> {
  const input = terminal.io.stdin.stream;
  if (input.readableEnded) {
    throw usageError(
      'nothing can be asked: standard input has been read to its end',
      'give everything else by flags where one of them reads standard input',
    );
  }
  const ended = new AbortController();
  const end = () => ended.abort();
  // Readline is closed by Ctrl-C and, on an empty line, by Ctrl-D, of which it notifies nobody.
  const endIfClosed = (_text: unknown, key?: { ctrl?: boolean; name?: string }) => {
    if (key?.ctrl === true && (key.name === 'c' || (key.name === 'd' && input.isPaused()))) {
      end();
    }
  };
  const screen = questionScreen(terminal);
  try {
    const wanted = AbortSignal.any([signal, ended.signal]);
    const answer = ask({
      input,
      output: screen.stream,
      screen,
      signal: wanted,
      get clearPromptOnDone() {
        return wanted.aborted;
      },
    });
    input.on('keypress', endIfClosed).on('end', end).on('close', end);
    return await answer;
  } catch (error) {
    signal.throwIfAborted();
    throw isEnd(error) ? new QuestionLeft() : error;
  } finally {
    screen.close();
    input.off('keypress', endIfClosed).off('end', end).off('close', end);
  }
}

function isEnd(error: unknown): boolean {
  return error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name);
}
