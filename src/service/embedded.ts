import { MAX_BODY_BYTES, PATH_PREFIX } from '../wire/index.ts';
import { type Clock, systemClock } from './clock.ts';
import { compose, type Parts } from './compose.ts';
import { answerError, tooLarge } from './http/api-error.ts';
import type { ApiAnswer } from './http/route.ts';
import { PendingWork } from './lifecycle/background-work.ts';
import { runHousekeeping } from './lifecycle/housekeeping.ts';
import type { Media } from './media/media.ts';
import { INTERFACE_ROUTES } from './routes/index.ts';
import { mediaAnswer } from './routes/media.ts';
import type { TextPiece } from './runs/text-feed.ts';
import type { CommonOptions } from './service-options.ts';
import { openDatabase } from './store/open.ts';
import type { Store } from './store/store.ts';

/** A request from the same process. */
export interface LocalRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly length: number; chunks(): AsyncIterable<Uint8Array> } | string;
  /** Gives up the answer, with the signal's reason; a run that was created goes on. */
  readonly signal?: AbortSignal;
  readonly onSent?: () => void;
}

export interface LocalResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The service within this process: no socket, and `file:` URLs of its media. */
export interface EmbeddedService {
  /** Ends in /v1; leads nowhere but here. */
  readonly url: string;
  /** A key of the user `local` that dies with this service and is stored nowhere. */
  readonly sessionKey: string;
  /** Answers what is below `url`, and the `file:` URLs of its media. */
  request(request: LocalRequest): Promise<LocalResponse>;
  /** Whether a URL is one that only `request` answers: of media in the data directory. */
  owns(url: URL): boolean;
  /** Gives the text of runs piece by piece while it is made, where their model can stream; returns how to stop. */
  onText(listener: (piece: TextPiece) => void): () => void;
  /** Releases runs that have not ended: they go on at the next start. */
  close(): Promise<void>;
}

const ORIGIN = 'http://localhost';
/** A process that is gone sooner leaves it to others to clear away what has expired, in milliseconds. */
const HOUSEKEEPING_AFTER_MS = 1000;

/**
 * Starts the service on a data directory for the commands of one process, perhaps only for a moment: it makes no first
 * key, and is slow to take up runs of others.
 *
 * @throws {DataDirectoryError} where the data directory can't be used
 */
export async function startEmbedded(options: CommonOptions): Promise<EmbeddedService> {
  const { clock = systemClock, onNotice = () => {} } = options;
  const closing = new AbortController();
  const given = { media: false };
  const store = await openDatabase({ dataDir: options.dataDir, clock });
  try {
    const parts = await compose(store, {
      ...options,
      clock,
      onNotice,
      routes: INTERFACE_ROUTES,
      mediaUrl: (media, output) => {
        given.media = true;
        return media.fileUrlOf(output);
      },
      watchModels: false,
      closing: closing.signal,
      stopped: closing.signal,
    });
    return embedded({ store, parts, closing, clock, given });
  } catch (error) {
    await store.close();
    throw error;
  }
}

interface Embedding {
  readonly store: Store;
  readonly parts: Parts;
  readonly closing: AbortController;
  readonly clock: Clock;
  /** Whether the URL of any media was given: who makes media also clears away what has expired. */
  readonly given: { readonly media: boolean };
}

function embedded({ store, parts, closing, clock, given }: Embedding): EmbeddedService {
  const { api, runner, media, sessionKey } = parts;
  const requests = new PendingWork();
  runner.start({ patient: true });
  const housekeeping = clock
    .sleep(HOUSEKEEPING_AFTER_MS, closing.signal)
    .catch(() => {})
    .then(() => runHousekeeping(parts.housekeeping, closing.signal));
  return {
    url: `${ORIGIN}${PATH_PREFIX}`,
    sessionKey,
    onText: listener => parts.texts.listen(listener),
    owns: url => media.isFile(url),
    async request({ method, url, headers, body, signal, onSent }) {
      signal?.throwIfAborted();
      onSent?.();
      if (url.startsWith('file:')) return responseOf(await fileAnswer(media, url));
      const bytes = await bytesOf(body);
      const target = url.slice(ORIGIN.length);
      const readBody = (): Promise<Buffer> =>
        bytes.length > MAX_BODY_BYTES ? Promise.reject(tooLarge()) : Promise.resolve(bytes);
      const answer = requests.track(api({ method, target, headers, origin: ORIGIN, readBody }));
      return responseOf(await orAborted(answer, signal));
    },
    async close() {
      closing.abort(new Error('the service is stopping'));
      parts.models.close();
      await runner.close(0);
      await requests.ended();
      await parts.tasks.close();
      await housekeeping;
      if (given.media) await media.sweep().catch(parts.housekeeping.onFault);
      await store.close();
    },
  };
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

async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work;
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
