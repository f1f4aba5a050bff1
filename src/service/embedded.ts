import { endPersistentPrograms } from '../models/engines.ts';
import { endOrphanedPrograms } from '../models/programs/orphaned-programs.ts';
import { rejectWhenAborted } from '../utils/abort-signals.ts';
import { MAX_BODY_BYTES, PATH_PREFIX } from '../wire/index.ts';
import { compose, type ServiceParts } from './compose.ts';
import { PendingWork } from './core/background-work.ts';
import { serviceClock } from './core/clock.ts';
import type { Api } from './http/api.ts';
import { createErrorAnswer, tooLarge } from './http/api-error.ts';
import type { ApiAnswer } from './http/route.ts';
import type { Media } from './media/media.ts';
import { INTERFACE_ROUTES } from './routes/index.ts';
import { answerMedia } from './routes/media.ts';
import { CommandRunner } from './runs/execution/command-runner.ts';
import { startDetachedRun } from './runs/execution/detached-run.ts';
import type { TextPiece } from './runs/execution/text-feed.ts';
import { runHousekeeping } from './runs/housekeeping.ts';
import type { CommonOptions } from './service-options.ts';
import { openDatabase } from './store/open-database.ts';
import { wrapStoreFault } from './store/store-errors.ts';

/** A request from the same process. */
export interface LocalRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?:
    | { readonly length: number; chunks(): AsyncIterable<Uint8Array> }
    | string
    | undefined;
  /** Its abort rejects the request. A run that was created continues until it is stopped. */
  readonly signal?: AbortSignal | undefined;
  readonly onSent?: () => void;
}

export interface LocalResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The service within this process, without a socket, and with `file:` URLs for media. */
export type EmbeddedService = Awaited<ReturnType<typeof startEmbedded>>;

/** Operations on the runs that this process carries out. */
export type InProcessRuns = EmbeddedService['inProcessRuns'];

const ORIGIN = 'http://localhost';

/** Delay of housekeeping, in milliseconds. A process that ends sooner leaves it to others. */
const HOUSEKEEPING_DELAY_MS = 1000;

/**
 * Starts the service on a data directory for the commands of one process. It creates no first key,
 * and runs only its own runs.
 *
 * @throws {DataDirectoryError} if the data directory can't be used
 */
export async function startEmbedded(options: CommonOptions) {
  const { parts, close } = await openForCommand(options);
  const { media } = parts;
  const requests = new PendingWork();

  return {
    /** The base URL, which ends in /v1 and works with `request` only. */
    url: `${ORIGIN}${PATH_PREFIX}`,
    /** A key of the user `local` that is never stored, and ends with this service. */
    sessionKey: parts.sessionKey,
    inProcessRuns: createInProcessRuns(parts, options),
    costs: parts.costs,
    /** Loads the client of provider batches. */
    providerBatches: parts.providerBatches,
    /** Returns true for a `file:` URL of media, which only `request` answers. */
    owns: (url: URL): boolean => media.isMediaFileUrl(url),
    /** Answers a request below `url`, or for a `file:` URL of media. */
    async request(request: LocalRequest): Promise<LocalResponse> {
      request.signal?.throwIfAborted();
      request.onSent?.();
      if (request.url.startsWith('file:')) return toResponse(await answerFile(media, request.url));
      const bytes = await collectBody(request.body);
      const answer = requests.track(callApi(parts.api, request, bytes));
      return toResponse(await rejectWhenAborted(answer, request.signal));
    },
    /** Stops unfinished runs; the cause is for example Ctrl-C. */
    close: (cause?: string) => close(cause, requests),
  };
}

type CommandParts = ServiceParts<CommandRunner>;

function createInProcessRuns(
  { runner, textFeed, models, engines, userId }: CommandParts,
  options: CommonOptions,
) {
  return {
    /**
     * Calls the listener with pieces of text as models stream them. Returns a function that removes
     * the listener.
     */
    onText: (listener: (piece: TextPiece) => void) => {
      textFeed.on('text', listener);
      return () => textFeed.off('text', listener);
    },
    /**
     * Stops the run of a creation, which then fails, or prevents the creation. Returns undefined if
     * there is no run; `isStopped` is false if the run had already ended.
     *
     * @param cause for example Ctrl-C
     */
    stop: (idempotencyKey: string, cause: string) => runner.stop(userId, idempotencyKey, cause),
    /**
     * Returns why a run failed before a model answered; undefined if it ended in any other way.
     */
    findFault: (runId: string) => runner.findFault(runId),
    /** Returns true if the model of a run of this process was asked and nothing came back. */
    isUnanswered: (runId: string) => runner.isUnanswered(runId),
    /**
     * Reads declared models again, and ends programs that wait for further runs, so that both
     * follow changed files. /
     */
    async reloadModels(): Promise<void> {
      await models.loadNamedModels();
      await endPersistentPrograms(engines);
    },
    /**
     * Runs all later runs in separate processes, and answers their creations at once.
     *
     * @throws {Refusal} UNAVAILABLE if such a process does not start
     */
    detach: (): Promise<void> => {
      const { dataDir, modelsFile, allowPrivate } = options;
      return runner.detach(() => startDetachedRun({ dataDir, modelsFile, allowPrivate }));
    },
  };
}

/** Opens the store and composes the service for a command. */
export async function openForCommand(options: CommonOptions) {
  const { clock = serviceClock, onNotice = () => {} } = options;
  const closing = new AbortController();

  /** True once media has been created. This process then also deletes expired media. */
  let hasCreatedMedia = false;
  const store = await openDatabase({ dataDir: options.dataDir, workerKind: 'command', clock });
  const endingOrphans = endOrphanedPrograms(options.dataDir, options.env ?? {}).catch(() => {});
  try {
    const parts = await compose(store, {
      ...options,
      clock,
      onNotice,
      createRunner: work => new CommandRunner(work),
      routes: INTERFACE_ROUTES,
      mediaUrl: (media, output) => {
        hasCreatedMedia = true;
        return media.toFileUrl(output);
      },
      watchModels: false,
      forgetsUnaskedRequests: false,
      isForOneUser: true,
      onUnresolved: () => '; use --allow-private to let the proxy resolve it',
      closing: closing.signal,
      stopping: closing.signal,
    });
    const housekeeping = clock
      .sleep(HOUSEKEEPING_DELAY_MS, closing.signal)
      .catch(() => {})
      .then(() => runHousekeeping(parts, closing.signal));
    return {
      store,
      parts,
      /** Stops running runs, waits for requests, and closes the store. */
      async close(cause = 'the end of its command', requests?: PendingWork) {
        closing.abort(new Error('the service is stopping'));
        parts.models.close();
        await parts.runner.close(cause);
        await endPersistentPrograms(parts.engines);
        await endingOrphans;
        await requests?.waitForAll();
        await parts.tasks.close();
        await housekeeping;
        if (hasCreatedMedia) await parts.media.deleteExpired().catch(parts.onFault);
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw wrapStoreFault(options.dataDir, error);
  }
}

function callApi(
  api: Api,
  { method, url, headers }: LocalRequest,
  bytes: Buffer,
): Promise<ApiAnswer> {
  const readBody = (): Promise<Buffer> =>
    bytes.length > MAX_BODY_BYTES ? Promise.reject(tooLarge()) : Promise.resolve(bytes);
  return api({ method, target: url.slice(ORIGIN.length), headers, origin: ORIGIN, readBody });
}

async function collectBody(body: LocalRequest['body']): Promise<Buffer> {
  if (body === undefined || typeof body === 'string') return Buffer.from(body ?? '');
  const pieces: Uint8Array[] = [];
  // Copied, because the source reuses its buffer.
  for await (const piece of body.chunks()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Answers a `file:` URL of media like `serve` answers a signed one. */
async function answerFile(media: Media, url: string): Promise<ApiAnswer> {
  try {
    return await answerMedia(await media.findByFileUrl(url));
  } catch (error) {
    return createErrorAnswer(error, () => {});
  }
}

function toResponse({ httpStatus, headers, body }: ApiAnswer): LocalResponse {
  return {
    status: httpStatus,
    headers,
    body: typeof body === 'string' ? streamOneChunk(Buffer.from(body)) : body,
  };
}

async function* streamOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
