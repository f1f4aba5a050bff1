import { Readable } from 'node:stream';
import type { TransportRequest, TransportResponse } from '../../client/transport.ts';
import { isDirectory } from '../../files/writing/write-below.ts';
import type { EngineFault } from '../../models/engine.ts';
import { readValueAt } from '../../utils/bounded-json.ts';
import { stringifyAsWritten } from '../../utils/written-numbers.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../../wire/index.ts';
import { usageError } from '../core/errors.ts';
import { findNearestRecording } from './nearest-recording.ts';
import {
  findPathBelow,
  findRunIdInPath,
  isRunListPath,
  RequestCounter,
} from './recorded-request.ts';
import type { RecordedRequest, Recorder } from './recorder.ts';
import {
  type RecordedAnswer,
  type RecordedMedia,
  RecordingDirectory,
} from './recording-directory.ts';

export interface ReplayOptions {
  readonly directory: string;
  readonly baseUrl: string;
}

/** The answer to every list of runs, which are not recorded. */
const EMPTY_RUN_LIST: RecordedAnswer = {
  httpStatus: 200,
  body: { status: 'SUCCESS', data: { rows: [], hasMore: false } },
};

/**
 * Answers from recordings and sends nothing. Checks all of them before the first is used, because
 * they may be untrusted.
 *
 * @throws {CliError} USAGE_ERROR if the directory doesn't exist; CONFIG_ERROR that names a damaged
 * recording
 */
export async function replayFrom({ directory, baseUrl }: ReplayOptions): Promise<Recorder> {
  if (!isDirectory(directory)) {
    throw usageError(
      `--replay: no such directory: ${directory}`,
      'Make recordings with --record <dir>.',
    );
  }

  const recordings = new RecordingDirectory(directory);
  const index = await buildIndex(recordings);

  /** The recordings' files by the idempotency keys of creations. */
  const filesByKey = new Map<string, string>();
  const counter = new RequestCounter();

  return {
    mode: 'replay',
    registerRequest: async (idempotencyKey, request) => {
      const countedRequest = counter.add(idempotencyKey, request);
      filesByKey.set(idempotencyKey, await findRecordedFile(recordings, countedRequest));
    },
    findFault: runId => index.faultsByRunId.get(runId),
    findCost: runId => index.costsByRunId.get(runId),
    wrapTransport: async () => ({
      request: async request => {
        const answer = await findAnswer(request, { recordings, index, filesByKey, baseUrl });
        return answer ?? buildNotRecordedAnswer(request, directory);
      },
      owns: () => true,
      close: () => Promise.resolve(),
    }),
  };
}

/** Recorded runs and media by the ids and URLs in answers. */
interface RecordingIndex {
  readonly filesByRunId: ReadonlyMap<string, string>;
  readonly mediaByUrl: ReadonlyMap<string, RecordedMedia>;
  /** The faults of runs that failed before a model answered. */
  readonly faultsByRunId: ReadonlyMap<string, EngineFault>;
  /** The costs in US dollars. */
  readonly costsByRunId: ReadonlyMap<string, number>;
}

/** Checks all recordings, and returns their index. */
async function buildIndex(recordings: RecordingDirectory): Promise<RecordingIndex> {
  await recordings.checkAnswers();

  const filesByRunId = new Map<string, string>();
  const mediaByUrl = new Map<string, RecordedMedia>();
  const faultsByRunId = new Map<string, EngineFault>();
  const costsByRunId = new Map<string, number>();
  const checkedDigests = new Set<string>();
  for await (const { file, recording } of recordings.readAll()) {
    const runId = readValueAt(recording.answer.body, 'data', 'runId');
    if (typeof runId === 'string') {
      filesByRunId.set(runId, file);
      if (recording.fault) faultsByRunId.set(runId, recording.fault);
      if (recording.cost !== undefined) costsByRunId.set(runId, recording.cost);
    }

    await recordings.checkMedia(file, recording.media, checkedDigests);
    for (const medium of recording.media) mediaByUrl.set(medium.url, medium);
  }

  return { filesByRunId, mediaByUrl, faultsByRunId, costsByRunId };
}

/**
 * Returns the file with the answer to a creation.
 *
 * @throws {CliError} USAGE_ERROR if there is none, or it is incomplete
 */
async function findRecordedFile(
  recordings: RecordingDirectory,
  request: RecordedRequest,
): Promise<string> {
  const file = RecordingDirectory.getFileName(request);
  const recording = await recordings.read(file);
  if (recording?.notKept.length === 0) return file;

  if (recording !== undefined) {
    throw usageError(
      `the recording ${file} lacks what was too big to keep: ${recording.notKept.join(', ')}`,
      "Such a run can't be replayed: run it without --replay.",
    );
  }

  const hint = describeNearest(await findNearestRecording(request, recordings.readAll()));
  throw usageError(
    `this run is not recorded in ${recordings.directory}`,
    hint,
    'Record it with --record.',
  );
}

function describeNearest(nearest: Awaited<ReturnType<typeof findNearestRecording>>): string {
  if (nearest === undefined) return 'This prompt has no recording.';
  const { file, isSameVersion, differenceText } = nearest;
  if (isSameVersion) return `The nearest is ${file}; it differs in ${differenceText}.`;
  return `The nearest is ${file}, of another version: the prompt file has changed since, or it is another model or prompt; it differs in ${differenceText}.`;
}

interface ReplayState {
  readonly recordings: RecordingDirectory;
  readonly index: RecordingIndex;
  /** The recordings' files by the idempotency keys of creations. */
  readonly filesByKey: ReadonlyMap<string, string>;
  readonly baseUrl: string;
}

/** Returns the recorded response to a request; undefined if it is not recorded. */
async function findAnswer(
  request: TransportRequest,
  { recordings, index, filesByKey, baseUrl }: ReplayState,
): Promise<TransportResponse | undefined> {
  const requestPath = findPathBelow(baseUrl, request.url);
  if (requestPath === undefined) {
    return openRecordedMedia(recordings, index.mediaByUrl.get(request.url));
  }

  if (request.method === 'POST') {
    const file = filesByKey.get(request.headers[IDEMPOTENCY_KEY_HEADER] ?? '');
    const recording = file === undefined ? undefined : await recordings.read(file);
    request.onSent?.();
    return recording && answerFromRecording(recording.answer);
  }

  const runFile = index.filesByRunId.get(findRunIdInPath(requestPath) ?? '');
  const recording = runFile === undefined ? undefined : await recordings.read(runFile);
  if (recording) return answerFromRecording(recording.answer);
  if (isRunListPath(requestPath)) return answerFromRecording(EMPTY_RUN_LIST);

  const answer = await recordings.readAnswer(RecordingDirectory.getAnswerFileName(requestPath));
  return answer && answerFromRecording(answer);
}

async function openRecordedMedia(
  recordings: RecordingDirectory,
  medium: RecordedMedia | undefined,
): Promise<TransportResponse | undefined> {
  if (medium === undefined) return undefined;
  const { length, body } = await recordings.openMedia(medium.sha256);
  const type = medium.contentType === null ? {} : { 'content-type': medium.contentType };
  return { status: 200, headers: { 'content-length': String(length), ...type }, body };
}

function answerFromRecording({ httpStatus, body }: RecordedAnswer): TransportResponse {
  const bytes = Buffer.from(stringifyAsWritten(body));
  return {
    status: httpStatus,
    headers: { 'content-type': 'application/json', 'content-length': String(bytes.length) },
    body: Readable.from([bytes]),
  };
}

function buildNotRecordedAnswer(
  { method, url }: TransportRequest,
  directory: string,
): TransportResponse {
  const message = `${method} ${new URL(url).pathname} is not recorded in ${directory}; record it with --record`;
  return answerFromRecording({
    httpStatus: 422,
    body: { status: 'USAGE_ERROR', message, data: null },
  });
}
