import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { forkBuilt } from '../../../files/installed/fork-built.ts';
import type { QueuedRun } from '../../store/runs/run-records.ts';

/** A process in its own session that carries out one run and then exits. */
export interface DetachedRun {
  /** The id under which the process is registered as a worker. */
  readonly workerId: string;
  /** Hands over a stored run of this worker; resolves once the process has it. */
  carryOut(run: QueuedRun): Promise<void>;
  /** Ends the process if it has no run. */
  end(): void;
}

/** The settings with which the process opens the service. */
export interface DetachedSettings {
  readonly dataDir: string;
  /** The absolute path of a further models file. */
  readonly modelsFile: string | undefined;
  /** See `CommonOptions`. */
  readonly allowPrivate: boolean | undefined;
}

const RUN_PROCESS_FILE = 'run-process.cjs';

/**
 * Starts the process and returns it with its worker id. Its run is sent through a pipe, never as
 * arguments.
 *
 * @throws if it does not start
 */
export async function startDetachedRun(settings: DetachedSettings): Promise<DetachedRun> {
  const child = forkBuilt(RUN_PROCESS_FILE, { detached: true });
  const workerId = await askChild<string>(child, settings);

  const disconnect = (): void => {
    if (child.connected) child.disconnect();
    child.unref();
  };

  return {
    workerId,
    end: disconnect,
    async carryOut(run) {
      await askChild(child, run);
      disconnect();
    },
  };
}

async function askChild<T>(child: ChildProcess, message: object): Promise<T> {
  const exited = new Promise<never>((_, reject) => {
    child.once('exit', code =>
      reject(new Error(`the process for the run ended before it began (exit code ${code})`)),
    );
    // Stays listening: a message to a process that has exited emits an error, but its exit explains
    // more.
    child.on('error', reject);
  });

  // It also exits after its run, when nothing waits for a reply any more.
  exited.catch(() => {});

  // If the message can't be sent, the exit event says why.
  child.send(message, () => {});
  const [reply] = (await Promise.race([once(child, 'message'), exited])) as [T];
  return reply;
}
