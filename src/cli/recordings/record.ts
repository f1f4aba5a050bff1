import { Redaction } from '../../client/http/redaction.ts';
import { readThrough, type Transport, type TransportRequest } from '../../client/transport.ts';
import { LinkFault } from '../../files/writing/write-below.ts';
import {
  isJsonObject,
  MAX_JSON,
  readValueAt,
  type UncheckedObject,
} from '../../utils/bounded-json.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { parseKeepingNumbers } from '../../utils/written-numbers.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../../wire/index.ts';
import { CliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { toCliError } from '../core/failure.ts';
import { pluralize } from '../core/pluralize.ts';
import { createRecording, type RecordOptions } from './create-recording.ts';
import {
  findPathBelow,
  findRunIdInPath,
  isRunListPath,
  RequestCounter,
} from './recorded-request.ts';
import type { RecordedRequest, Recorder, UncountedRequest } from './recorder.ts';
import {
  type RecordedAnswer,
  RecordingDirectory,
  UnwritableRecordingError,
} from './recording-directory.ts';

const MAX_RECORDED_ANSWER_BYTES = 64 * 1024 * 1024;

/** HTTP statuses of a busy or restarting service. */
const TEMPORARY_FAULT_STATUSES: ReadonlySet<number> = new Set([429, 502, 503]);

/** Maximum number of answers being written; further requests wait. */
const MAX_PENDING_WRITES = 8;

/**
 * Records every creation with its end, answers to other requests, and generated media. Keys are
 * masked everywhere.
 *
 * A link in the path of a recording stops the request before it is sent. A link found only after
 * the answer, or a file that can't be written, is thrown when the transport is closed.
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
  readonly #runningCreations = new Map<string, RecordedRequest>();
  /** Functions that write the last temporary fault of creations without another answer so far. */
  readonly #temporaryFaultWriters = new Map<RecordedRequest, () => Promise<void>>();
  /** Answers that are being written. */
  readonly #pendingWrites = new Set<Promise<void>>();
  /** The first link in the way of an answer. */
  #linkFault: LinkFault | undefined;
  #unwrittenCount = 0;
  #providerKeys: Promise<readonly string[]> | undefined;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#directory = new RecordingDirectory(options.directory);
    for (const folder of RecordingDirectory.folders) this.#directory.checkLinks(folder);
  }

  async registerRequest(idempotencyKey: string, request: UncountedRequest): Promise<void> {
    this.#checkLinks(RecordingDirectory.getFileName(this.#counter.add(idempotencyKey, request)));
  }

  registerEarlierRun(runId: string, request: UncountedRequest): void {
    const creation = this.#counter.add(`run ${runId}`, request);
    this.#checkLinks(RecordingDirectory.getFileName(creation));
    this.#runningCreations.set(runId, creation);
  }

  async wrapTransport(open: () => Promise<Transport>): Promise<Transport> {
    const transport = await open();
    return {
      ...(transport.owns && { owns: transport.owns }),
      request: request => this.#request(transport, request),
      close: () => this.#close(transport),
    };
  }

  async #request(
    transport: Transport,
    request: TransportRequest,
  ): ReturnType<Transport['request']> {
    const requestPath = findPathBelow(this.#options.baseUrl, request.url);
    if (requestPath === undefined) return transport.request(request);

    if (
      this.#findCreation(request, requestPath) === undefined &&
      isRecordedAsAnswer(request, requestPath)
    ) {
      this.#checkLinks(RecordingDirectory.getAnswerFileName(requestPath));
    }

    if (this.#pendingWrites.size >= MAX_PENDING_WRITES) await Promise.race(this.#pendingWrites);
    return sendAndCopy(transport, request, answer =>
      this.#trackWrite(this.#record(request, requestPath, answer)),
    );
  }

  async #close(transport: Transport): Promise<void> {
    await Promise.all(this.#pendingWrites);
    for (const write of this.#temporaryFaultWriters.values()) this.#trackWrite(write());
    await Promise.all(this.#pendingWrites);
    await transport.close();
    if (this.#linkFault !== undefined) throw this.#linkFault;

    if (this.#unwrittenCount > 0) {
      throw incompleteRecordingError(this.#unwrittenCount, this.#options.directory);
    }
  }

  #checkLinks(file: string): void {
    try {
      this.#directory.checkLinks(file);
    } catch (error) {
      if (error instanceof LinkFault) this.#linkFault ??= error;
      throw toCliError(error);
    }
  }

  #trackWrite(write: Promise<void>): void {
    const pendingWrite = write
      .catch((error: unknown) => {
        if (error instanceof UnwritableRecordingError) this.#unwrittenCount += 1;
        if (error instanceof LinkFault) {
          this.#linkFault ??= error;
        } else {
          this.#options.note(`note: not recorded: ${getErrorMessage(error)}`);
        }
      })
      .finally(() => this.#pendingWrites.delete(pendingWrite));
    this.#pendingWrites.add(pendingWrite);
  }

  async #record(
    request: TransportRequest,
    requestPath: string,
    answer: RecordedAnswer,
  ): Promise<void> {
    this.#providerKeys ??= this.#options.readProviderKeys();
    const maskSecrets = createMask(request, await this.#providerKeys);
    const creation = this.#findCreation(request, requestPath);
    if (creation) {
      // A poll that fails says nothing about the creation.
      if (request.method === 'GET' && answer.httpStatus !== 200) return;
      if (isTemporaryFault(answer)) {
        const write = (): Promise<void> =>
          this.#recordTemporaryFault(creation, answer, maskSecrets);
        this.#temporaryFaultWriters.set(creation, write);
      } else {
        await this.#recordCreation(creation, answer, maskSecrets);
      }
    } else if (isRecordedAsAnswer(request, requestPath) && !isTemporaryFault(answer)) {
      const file = RecordingDirectory.getAnswerFileName(requestPath);
      await this.#directory.writeAnswer(file, maskSecrets(requestPath), maskSecrets(answer));
    }
  }

  /** Returns the creation that a request sends or polls; undefined for other requests. */
  #findCreation(
    { method, headers }: TransportRequest,
    requestPath: string,
  ): RecordedRequest | undefined {
    if (method === 'POST' && requestPath === '/runs') {
      return this.#counter.get(headers[IDEMPOTENCY_KEY_HEADER]);
    }
    if (method !== 'GET') return undefined;
    return this.#runningCreations.get(findRunIdInPath(requestPath) ?? '');
  }

  /**
   * Writes a temporary fault as the answer to a creation, unless an earlier recording has a better
   * one.
   */
  async #recordTemporaryFault(
    creation: RecordedRequest,
    answer: RecordedAnswer,
    maskSecrets: MaskSecrets,
  ): Promise<void> {
    const earlier = await this.#directory.read(RecordingDirectory.getFileName(creation));
    if (earlier === undefined) await this.#recordCreation(creation, answer, maskSecrets);
  }

  /** Writes the recording of a creation that has ended; remembers one whose run continues. */
  async #recordCreation(
    creation: RecordedRequest,
    answer: RecordedAnswer,
    maskSecrets: MaskSecrets,
  ): Promise<void> {
    this.#temporaryFaultWriters.delete(creation);
    const runId = findUnfinishedRunId(answer);
    if (runId !== undefined) {
      this.#runningCreations.set(runId, creation);
      return;
    }

    const recording = await createRecording(this.#directory, creation, answer, this.#options);
    await this.#directory.write(RecordingDirectory.getFileName(creation), maskSecrets(recording));
  }
}

function incompleteRecordingError(unwrittenCount: number, directory: string): CliError {
  return new CliError(
    `${directory} is incomplete: ${pluralize(unwrittenCount, 'answer')} could not be recorded`,
    {
      status: 'FILE_ERROR',
      exitCode: EXIT.fault,
    },
  );
}

/**
 * Returns true if an answer that ends no creation is recorded in `answers/`: any but lists of runs,
 * which change.
 */
function isRecordedAsAnswer({ method }: TransportRequest, requestPath: string): boolean {
  return method === 'GET' && !isRunListPath(requestPath);
}

/**
 * Sends a request. The caller reads the answer within its own limits, and the answer is copied
 * meanwhile.
 */
async function sendAndCopy(
  transport: Transport,
  request: TransportRequest,
  onAnswer: (answer: RecordedAnswer) => void,
): ReturnType<Transport['request']> {
  // Uncompressed, so that recordings are readable.
  const headers = { ...request.headers, 'accept-encoding': 'identity' };
  const response = await transport.request({ ...request, headers });
  return { ...response, body: readThrough(response, copyBody()) };

  async function* copyBody(): AsyncGenerator<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.length;
      if (size <= MAX_RECORDED_ANSWER_BYTES) chunks.push(chunk);
      yield chunk;
    }

    const body =
      size <= MAX_RECORDED_ANSWER_BYTES ? parseJsonEnvelope(Buffer.concat(chunks)) : undefined;
    if (body !== undefined) onAnswer({ httpStatus: response.status, body });
  }
}

/** Returns true for a temporary fault, which the same request might not meet again. */
function isTemporaryFault({ httpStatus }: RecordedAnswer): boolean {
  return TEMPORARY_FAULT_STATUSES.has(httpStatus);
}

function parseJsonEnvelope(bytes: Buffer): UncheckedObject | undefined {
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
function findUnfinishedRunId({ httpStatus, body }: RecordedAnswer): string | undefined {
  const runId = readValueAt(body, 'data', 'runId');
  const runStatus = readValueAt(body, 'data', 'runStatus');
  const isOver = runStatus === 'succeeded' || runStatus === 'failed';
  const isRunning = httpStatus === 504 || (httpStatus === 200 && !isOver);
  return isRunning && typeof runId === 'string' ? runId : undefined;
}
