import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { forkBuilt } from '../../files/start-built.ts';
import type { QueuedRun } from '../store/run-records.ts';

/** A process in a session of its own that carries out one run and ends with it. */
export interface DetachedRun {
  /** The worker that it is known to be alive as. */
  readonly worker: string;
  /** Hands over a run that is on disk as this worker's; resolves once the process has it. */
  carryOut(run: QueuedRun): Promise<void>;
  /** Ends the process, which has nothing to do. */
  end(): void;
}

/** What the process needs to know to open the service. */
export interface DetachedPlace {
  readonly dataDir: string;
  /** A file with more models, absolute. */
  readonly modelsFile: string | undefined;
  /** As CommonOptions has it. */
  readonly allowPrivate: boolean | undefined;
}

const FILE = 'run-process.cjs';

/**
 * Starts the process, which is told the data directory, and answers with the worker that it is. What it is to do goes
 * to it through a pipe, and never stands among its arguments.
 *
 * @throws where it does not start
 */
export async function startDetached(place: DetachedPlace): Promise<DetachedRun> {
  const child = forkBuilt(FILE, { detached: true });
  const worker = await answerOf<string>(child, place);
  const leave = (): void => {
    if (child.connected) child.disconnect();
    child.unref();
  };
  return {
    worker,
    end: leave,
    async carryOut(run) {
      await answerOf(child, run);
      leave();
    },
  };
}

async function answerOf<T>(child: ChildProcess, message: object): Promise<T> {
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the process for the run ended (exit code ${code})`);
  });
  // It ends with its run, when nobody waits for an answer any more.
  gone.catch(() => {});
  child.send(message);
  const [reply] = (await Promise.race([once(child, 'message'), gone])) as [T];
  return reply;
}
