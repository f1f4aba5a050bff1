import { stat } from 'node:fs/promises';
import type { TransportRequest, TransportResponse } from '../../../client/transport.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../../../wire/index.ts';
import { own } from '../../core/json-value.ts';
import type { RecordedRequest, Recorder } from '../../core/recorder.ts';
import { usageError } from '../../errors.ts';
import { nearestRecording } from './nearest.ts';
import { bodyOf, pathBelow } from './record.ts';
import { type RecordedAnswer, type Recording, RecordingDirectory, RequestCounter } from './recording.ts';

export interface ReplayOptions {
  readonly directory: string;
  readonly baseUrl: string;
}

/**
 * Answers from recordings and sends nothing.
 *
 * @throws {CliError} USAGE_ERROR where there is no such directory
 */
export async function replayFrom({ directory, baseUrl }: ReplayOptions): Promise<Recorder> {
  const stats = await stat(directory).catch(() => undefined);
  if (stats?.isDirectory() !== true) {
    throw usageError(`--replay: there is no directory ${directory}`, 'Make recordings with --record <dir>.');
  }
  const kept = new RecordingDirectory(directory);
  const creations = new Map<string, Recording>();
  const counter = new RequestCounter();
  return {
    mode: 'replay',
    begin: async (idempotencyKey, request) => {
      creations.set(idempotencyKey, await recorded(kept, counter.counted(idempotencyKey, request)));
    },
    wrap: async () => ({
      request: async request =>
        (await answerTo(request, { kept, creations, baseUrl })) ?? notRecorded(request, directory),
      owns: () => true,
      close: () => Promise.resolve(),
    }),
  };
}

async function recorded(kept: RecordingDirectory, request: RecordedRequest): Promise<Recording> {
  const found = await kept.find(request);
  if (found !== undefined) {
    return found;
  }
  const nearest = nearestRecording(request, await kept.all());
  throw usageError(
    `this run is not recorded in ${kept.directory}`,
    ...(nearest === undefined
      ? ['There is no recording of this prompt.']
      : [`The nearest is ${nearest.file}; it differs in ${nearest.difference}.`]),
    'Record it with --record.',
  );
}

interface Replaying {
  readonly kept: RecordingDirectory;
  readonly creations: ReadonlyMap<string, Recording>;
  readonly baseUrl: string;
}

async function answerTo(
  request: TransportRequest,
  { kept, creations, baseUrl }: Replaying,
): Promise<TransportResponse | undefined> {
  const place = pathBelow(baseUrl, request.url);
  if (place === undefined) {
    return mediaAt(kept, request.url);
  }
  if (request.method === 'POST') {
    const recording = creations.get(request.headers[IDEMPOTENCY_KEY_HEADER] ?? '');
    request.onSent?.();
    return recording && answered(recording.answer);
  }
  const [, runId] = /^\/runs\/([^/?]+)$/u.exec(place) ?? [];
  if (runId !== undefined) {
    return runOf(kept, runId);
  }
  if (/^\/runs(?:\?|$)/u.test(place)) {
    return answered({ httpStatus: 200, body: { status: 'SUCCESS', data: { rows: [], hasMore: false } } });
  }
  const answer = await kept.findAnswer(`GET ${place}`);
  return answer && answered(answer);
}

async function runOf(kept: RecordingDirectory, runId: string): Promise<TransportResponse | undefined> {
  const all = await kept.all();
  const found = all.find(({ recording }) => own(own(recording.answer.body, 'data'), 'runId') === runId);
  return found && answered(found.recording.answer);
}

async function mediaAt(kept: RecordingDirectory, url: string): Promise<TransportResponse | undefined> {
  const media = (await kept.all()).flatMap(({ recording }) => recording.media).find(item => item.url === url);
  if (media === undefined) {
    return undefined;
  }
  const bytes = await kept.readMedia(media.sha256);
  return {
    status: 200,
    headers: {
      'content-length': String(bytes.length),
      ...(media.contentType !== null && { 'content-type': media.contentType }),
    },
    body: bodyOf(bytes),
  };
}

function answered({ httpStatus, body }: RecordedAnswer): TransportResponse {
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    status: httpStatus,
    headers: { 'content-type': 'application/json', 'content-length': String(bytes.length) },
    body: bodyOf(bytes),
  };
}

function notRecorded({ method, url }: TransportRequest, directory: string): TransportResponse {
  const message = `${method} ${new URL(url).pathname} is not recorded in ${directory}; record it with --record`;
  return answered({ httpStatus: 422, body: { status: 'USAGE_ERROR', message, data: null } });
}
