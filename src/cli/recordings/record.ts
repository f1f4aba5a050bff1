import { Redaction } from '../../client/http/redaction.ts';
import { readThrough, type Transport, type TransportRequest } from '../../client/transport.ts';
import { LinkFault } from '../../files/writing/write-below.ts';
import { isJsonObject, MAX_JSON, type UncheckedObject, valueAt } from '../../utils/bounded-json.ts';
import { errorMessage } from '../../utils/error-utils.ts';
import { parseKeepingNumbers } from '../../utils/written-numbers.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../../wire/index.ts';
import { CliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { toCliError } from '../core/failure.ts';
import { pluralize } from '../core/pluralize.ts';
import type { RecordedRequest, Recorder, UncountedRequest } from '../core/recorder.ts';
import { makeRecording, type RecordOptions } from './make-recording.ts';
import { pathBelow, RequestCounter } from './recorded-request.ts';
import { type RecordedAnswer, RecordingDirectory, UnwritableRecording } from './recording-directory.ts';

const MAX_RECORDED_ANSWER_BYTES = 64 * 1024 * 1024;
/** Maximum number of answers being written; further requests wait. */
const MAX_PENDING = 8;

/**
 * Records every creation with its end, answers to other requests, and generated media. Keys are masked everywhere.
 *
 * A link in the path of a recording stops the request before it is sent. A link found only after the answer, or a file that
 * can't be written, is thrown when the transport is closed.
 *
 * @throws {LinkFault} for a link in place of one of the directory's own folders
 */
export function recordTo(options: RecordOptions): Recorder {
  return new ServiceRecorder(options);
}

class ServiceRecorder implements Recorder {
  readonly mode = 'record';
  readonly #options: RecordOptions;
  readonly #directory: RecordingDirectory;
  readonly #counter = new RequestCounter();
  /** Creations whose runs have not ended, by run id. */
  readonly #running = new Map<string, RecordedRequest>();
  /** The last passing faults of creations that have no other answer yet, ready to be written. */
  readonly #passing = new Map<RecordedRequest, () => Promise<void>>();
  /** Answers that are being written. */
  readonly #pending = new Set<Promise<void>>();
  /** The first link in the way of an answer. */
  #link: LinkFault | undefined;
  #unwritten = 0;
  #providerKeys: Promise<readonly string[]> | undefined;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#directory = new RecordingDirectory(options.directory);
    for (const folder of RecordingDirectory.folders) this.#directory.check(folder);
  }

  async begin(idempotencyKey: string, request: UncountedRequest): Promise<void> {
    this.#refuseLink(RecordingDirectory.fileName(this.#counter.add(idempotencyKey, request)));
  }

  adopt(runId: string, request: UncountedRequest): void {
    const creation = this.#counter.add(`run ${runId}`, request);
    this.#refuseLink(RecordingDirectory.fileName(creation));
    this.#running.set(runId, creation);
  }

  async wrap(open: () => Promise<Transport>): Promise<Transport> {
    const transport = await open();
    return {
      ...(transport.owns && { owns: transport.owns }),
      request: request => this.#request(transport, request),
      close: () => this.#close(transport),
    };
  }

  async #request(transport: Transport, request: TransportRequest): ReturnType<Transport['request']> {
    const place = pathBelow(this.#options.baseUrl, request.url);
    if (place === undefined) return transport.request(request);
    if (this.#toCreation(request, place) === undefined && isKeptAsAnswer(request, place)) {
      this.#refuseLink(RecordingDirectory.answerFileName(place));
    }
    if (this.#pending.size >= MAX_PENDING) await Promise.race(this.#pending);
    return sendAndCopy(transport, request, answer => this.#recordLater(request, place, answer));
  }

  async #close(transport: Transport): Promise<void> {
    await Promise.all(this.#pending);
    for (const write of this.#passing.values()) this.#pend(write());
    await Promise.all(this.#pending);
    await transport.close();
    if (this.#link !== undefined) throw this.#link;
    if (this.#unwritten > 0) throw incompleteRecording(this.#unwritten, this.#options.directory);
  }

  #refuseLink(file: string): void {
    try {
      this.#directory.check(file);
    } catch (error) {
      if (error instanceof LinkFault) this.#link ??= error;
      throw toCliError(error);
    }
  }

  #recordLater(request: TransportRequest, place: string, answer: RecordedAnswer): void {
    this.#pend(this.#record(request, place, answer));
  }

  #pend(write: Promise<void>): void {
    const pendingWrite = write
      .catch((error: unknown) => {
        if (error instanceof UnwritableRecording) this.#unwritten += 1;
        if (error instanceof LinkFault) this.#link ??= error;
        else this.#options.note(`note: not recorded: ${errorMessage(error)}`);
      })
      .finally(() => this.#pending.delete(pendingWrite));
    this.#pending.add(pendingWrite);
  }

  async #record(request: TransportRequest, place: string, answer: RecordedAnswer): Promise<void> {
    this.#providerKeys ??= this.#options.providerKeys();
    const maskSecrets = createMask(request, await this.#providerKeys);
    const creation = this.#toCreation(request, place);
    if (creation) {
      // A poll that fails says nothing about the creation.
      if (request.method === 'GET' && answer.httpStatus !== 200) return;
      if (isTemporaryFault(answer))
        this.#passing.set(creation, () => this.#recordPassing(creation, answer, maskSecrets));
      else await this.#recordCreation(creation, answer, maskSecrets);
    } else if (isKeptAsAnswer(request, place) && !isTemporaryFault(answer)) {
      const file = RecordingDirectory.answerFileName(place);
      await this.#directory.writeAnswer(file, maskSecrets(place), maskSecrets(answer));
    }
  }

  /** Returns the creation that a request sends or polls; undefined for other requests. */
  #toCreation({ method, headers }: TransportRequest, place: string): RecordedRequest | undefined {
    if (method === 'POST' && place === '/runs') return this.#counter.get(headers[IDEMPOTENCY_KEY_HEADER]);
    const [, runId = ''] = /^\/runs\/([^/?]+)$/u.exec(place) ?? [];
    return method === 'GET' ? this.#running.get(runId) : undefined;
  }

  /** Writes a passing fault as the answer to a creation, unless an earlier recording has a better one. */
  async #recordPassing(
    creation: RecordedRequest,
    answer: RecordedAnswer,
    maskSecrets: MaskSecrets,
  ): Promise<void> {
    const earlier = await this.#directory.read(RecordingDirectory.fileName(creation));
    if (earlier === undefined) await this.#recordCreation(creation, answer, maskSecrets);
  }

  /** Writes the recording of a creation, unless its run continues: a later poll returns its end. */
  async #recordCreation(
    creation: RecordedRequest,
    answer: RecordedAnswer,
    maskSecrets: MaskSecrets,
  ): Promise<void> {
    this.#passing.delete(creation);
    const runId = unfinishedRunId(answer);
    if (runId !== undefined) {
      this.#running.set(runId, creation);
      return;
    }
    const recording = await makeRecording(this.#directory, creation, answer, this.#options);
    await this.#directory.write(RecordingDirectory.fileName(creation), maskSecrets(recording));
  }
}

function incompleteRecording(unwritten: number, directory: string): CliError {
  return new CliError(`${directory} is incomplete: ${pluralize(unwritten, 'answer')} could not be recorded`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
  });
}

/** Returns true if an answer that ends no creation is recorded in `answers/`: any but lists of runs, which change. */
function isKeptAsAnswer({ method }: TransportRequest, place: string): boolean {
  return method === 'GET' && !/^\/runs(?:\?|$)/u.test(place);
}

/** Sends a request. The caller reads the answer within its own limits, and the answer is copied meanwhile. */
async function sendAndCopy(
  transport: Transport,
  request: TransportRequest,
  keep: (answer: RecordedAnswer) => void,
): ReturnType<Transport['request']> {
  // Uncompressed, so that recordings are readable.
  const headers = { ...request.headers, 'accept-encoding': 'identity' };
  const response = await transport.request({ ...request, headers });
  return { ...response, body: readThrough(response, copied()) };

  async function* copied(): AsyncGenerator<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.length;
      if (size <= MAX_RECORDED_ANSWER_BYTES) chunks.push(chunk);
      yield chunk;
    }
    const body = size <= MAX_RECORDED_ANSWER_BYTES ? jsonEnvelope(Buffer.concat(chunks)) : undefined;
    if (body !== undefined) keep({ httpStatus: response.status, body });
  }
}

/** Returns true for a temporary fault, which the same request might not meet again. */
function isTemporaryFault({ httpStatus }: RecordedAnswer): boolean {
  return [429, 502, 503].includes(httpStatus);
}

function jsonEnvelope(bytes: Buffer): UncheckedObject | undefined {
  try {
    const json = parseKeepingNumbers(bytes.toString('utf8'), MAX_JSON);
    return isJsonObject(json) && typeof json['status'] === 'string' ? json : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a value in which keys are masked. */
type MaskSecrets = <T>(value: T) => T;

/** Returns a function that masks the request's key, and those of providers, in its answer. */
function createMask({ headers }: TransportRequest, providerKeys: readonly string[]): MaskSecrets {
  const key = (headers['authorization'] ?? '').replace(/^Bearer /u, '');
  const redaction = new Redaction(key, ...providerKeys);
  return value => redaction.redactValue(value);
}

/** Returns the id of a run that has not ended. */
function unfinishedRunId({ httpStatus, body }: RecordedAnswer): string | undefined {
  const [runId, runStatus] = ['runId', 'runStatus'].map(key => valueAt(body, 'data', key));
  const isOver = runStatus === 'succeeded' || runStatus === 'failed';
  const isRunning = httpStatus === 504 || (httpStatus === 200 && !isOver);
  return isRunning && typeof runId === 'string' ? runId : undefined;
}
