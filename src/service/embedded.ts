import { unlessAborted } from '../models/outgoing/abort.ts';
import { endLeftPrograms } from '../models/programs/left-programs.ts';
import { MAX_BODY_BYTES, PATH_PREFIX } from '../wire/index.ts';
import { compose } from './compose.ts';
import { PendingWork } from './core/background-work.ts';
import { systemClock } from './core/clock.ts';
import { answerError, tooLarge } from './http/api-error.ts';
import type { ApiAnswer } from './http/route.ts';
import type { Media } from './media/media.ts';
import { INTERFACE_ROUTES } from './routes/index.ts';
import { mediaAnswer } from './routes/media.ts';
import { CommandRunner } from './runs/command-runner.ts';
import { startDetached } from './runs/detached-run.ts';
import { runHousekeeping } from './runs/housekeeping.ts';
import type { TextPiece } from './runs/text-feed.ts';
import type { CommonOptions } from './service-options.ts';
import { storeFault } from './store/errors.ts';
import { openDatabase } from './store/open.ts';

/** A request from the same process. */
export interface LocalRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly length: number; chunks(): AsyncIterable<Uint8Array> } | string | undefined;
  /** Gives up the answer, with the signal's reason; a run that was created goes on until it is stopped. */
  readonly signal?: AbortSignal | undefined;
  readonly onSent?: () => void;
}

export interface LocalResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The service within this process: no socket, and `file:` URLs of its media. */
export type EmbeddedService = Awaited<ReturnType<typeof startEmbedded>>;

/** What can be done only with runs that this very process carries out. */
export type RunsHere = EmbeddedService['runsHere'];

const ORIGIN = 'http://localhost';
/** A process that is gone sooner leaves it to others to clear away what has expired, in milliseconds. */
const HOUSEKEEPING_AFTER_MS = 1000;

/**
 * Starts the service on a data directory for the commands of one process, perhaps only for a moment: it makes no first
 * key, and carries out none but its own runs.
 *
 * @throws {DataDirectoryError} where the data directory can't be used
 */
export async function startEmbedded(options: CommonOptions) {
  const { parts, close } = await openForCommand(options);
  const { api, runner, media } = parts;
  const requests = new PendingWork();
  return {
    /** Ends in /v1; leads nowhere but here. */
    url: `${ORIGIN}${PATH_PREFIX}`,
    /** A key of the user `local` that dies with this service and is stored nowhere. */
    sessionKey: parts.sessionKey,
    runsHere: {
      /** Gives the text of runs piece by piece while it is made, where their model can stream; returns how to stop. */
      onText: (listener: (piece: TextPiece) => void) => {
        parts.texts.on('text', listener);
        return () => parts.texts.off('text', listener);
      },
      /**
       * Stops the run of a creation, which has failed then, or keeps the creation from making one; undefined where there
       * is no run, `stopped` is false where it had ended by itself.
       *
       * @param by what stops it, such as Ctrl-C
       */
      stop: (idempotencyKey: string, by: string) => runner.stop(parts.userId, idempotencyKey, by),
      /** Why a run of this process failed before a model answered; undefined for any other end. */
      faultOf: (runId: string) => runner.faultOf(runId),
      /** From now on each run is carried out by a process of its own; creations are answered at once. */
      detach: (): void => {
        const { dataDir, modelsFile, allowPrivate } = options;
        runner.detach = () => startDetached({ dataDir, modelsFile, allowPrivate });
      },
    },
    costs: parts.costs,
    /** Loads what asks models in batches of their providers. */
    providerBatches: parts.providerBatches,
    /** Whether a URL is one that only `request` answers: of media in the data directory. */
    owns: (url: URL): boolean => media.isFile(url),
    /** Answers what is below `url`, and the `file:` URLs of its media. */
    async request({ method, url, headers, body, signal, onSent }: LocalRequest): Promise<LocalResponse> {
      signal?.throwIfAborted();
      onSent?.();
      if (url.startsWith('file:')) return responseOf(await fileAnswer(media, url));
      const bytes = await bytesOf(body);
      const target = url.slice(ORIGIN.length);
      const readBody = (): Promise<Buffer> =>
        bytes.length > MAX_BODY_BYTES ? Promise.reject(tooLarge()) : Promise.resolve(bytes);
      const answer = requests.track(api({ method, target, headers, origin: ORIGIN, readBody }));
      return responseOf(await (signal ? unlessAborted(answer, signal) : answer));
    },
    /** Stops runs that have not ended; `by` says what stops them, such as Ctrl-C. */
    close: (by?: string) => close(by, requests),
  };
}

/** The parts of the service for a command, over its store. */
export async function openForCommand(options: CommonOptions) {
  const { clock = systemClock, onNotice = () => {} } = options;
  const closing = new AbortController();
  /** Who makes media also clears away what has expired. */
  let gaveMedia = false;
  const store = await openDatabase({ dataDir: options.dataDir, worker: 'command', clock });
  const leftPrograms = endLeftPrograms(options.dataDir, options.env ?? {}).catch(() => {});
  try {
    const parts = await compose(store, {
      ...options,
      clock,
      onNotice,
      runner: work => new CommandRunner(work),
      routes: INTERFACE_ROUTES,
      mediaUrl: (media, output) => {
        gaveMedia = true;
        return media.fileUrlOf(output);
      },
      watchModels: false,
      forgetsUnasked: false,
      hidesRemedies: false,
      onUnresolved: () => '; --allow-private leaves finding it to the proxy',
      closing: closing.signal,
      stopped: closing.signal,
    });
    const housekeeping = clock
      .sleep(HOUSEKEEPING_AFTER_MS, closing.signal)
      .catch(() => {})
      .then(() => runHousekeeping(parts, closing.signal));
    return {
      store,
      parts,
      /** Stops what is still being carried out, waits for requests, and closes the store. */
      async close(by = 'the end of its command', requests?: PendingWork) {
        closing.abort(new Error('the service is stopping'));
        parts.models.close();
        await parts.runner.close(by);
        await leftPrograms;
        await requests?.ended();
        await parts.tasks.close();
        await housekeeping;
        if (gaveMedia) await parts.media.sweep().catch(parts.onFault);
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw storeFault(options.dataDir, error);
  }
}

async function bytesOf(body: LocalRequest['body']): Promise<Buffer> {
  if (body === undefined || typeof body === 'string') return Buffer.from(body ?? '');
  const pieces: Uint8Array[] = [];
  for await (const piece of body.chunks()) pieces.push(Buffer.from(piece)); // it does not stay as it is
  return Buffer.concat(pieces);
}

/** What the URL of a picture leads to, as `serve` answers the signed one. */
async function fileAnswer(media: Media, url: string): Promise<ApiAnswer> {
  try {
    return await mediaAnswer(await media.findFile(url));
  } catch (error) {
    return answerError(error, () => {});
  }
}

function responseOf({ httpStatus, headers, body }: ApiAnswer): LocalResponse {
  return { status: httpStatus, headers, body: typeof body === 'string' ? once(Buffer.from(body)) : body };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
