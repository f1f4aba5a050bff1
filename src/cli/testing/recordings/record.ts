import type { Download } from '../../../client/download.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../client/transport.ts';
import { messageOf } from '../../../files/error-utils.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../../../wire/index.ts';
import { isObject, listOf } from '../../core/json-value.ts';
import type { RecordedRequest, Recorder } from '../../core/recorder.ts';
import { type RecordedMedia, RecordingDirectory, RequestCounter } from './recording.ts';

export interface RecordOptions {
  readonly directory: string;
  /** Of the service; what lies elsewhere is not recorded as an answer. */
  readonly baseUrl: string;
  /** Fetches generated media without the key. */
  readonly download: (url: string) => Promise<Download>;
  readonly note: (line: string) => void;
}

/** Keeps every creation with its end, what else was asked, and generated media; never a header, so never a key. */
export function recordTo(options: RecordOptions): Recorder {
  const kept = new RecordingDirectory(options.directory);
  const creations = new Map<string, RecordedRequest>();
  const running = new Map<string, RecordedRequest>();
  const counter = new RequestCounter();
  const keep = async (request: TransportRequest, answer: ReadAnswer): Promise<void> => {
    const place = pathBelow(options.baseUrl, request.url);
    if (place === undefined || !isWorthKeeping(answer)) {
      return;
    }
    const creation = creationOf(request, place, creations, running);
    if (creation !== undefined) {
      await keepCreation(kept, creation, answer, running, options);
    } else if (request.method === 'GET' && !/^\/runs(?:[/?]|$)/u.test(place)) {
      await kept.writeAnswer(`GET ${place}`, { httpStatus: answer.status, body: answer.json });
    }
  };
  return {
    mode: 'record',
    begin: (idempotencyKey, request) => {
      creations.set(idempotencyKey, counter.counted(idempotencyKey, request));
      return Promise.resolve();
    },
    wrap: async open => recording(await open(), options, keep),
  };
}

interface ReadAnswer {
  readonly status: number;
  readonly json: unknown;
}

function recording(
  transport: Transport,
  { baseUrl, note }: RecordOptions,
  keep: (request: TransportRequest, answer: ReadAnswer) => Promise<void>,
): Transport {
  return {
    ...(transport.owns && { owns: transport.owns }),
    close: () => transport.close(),
    request: async request => {
      if (pathBelow(baseUrl, request.url) === undefined) {
        return transport.request(request);
      }
      // What is compressed could not be kept in a form that people read.
      const headers = { ...request.headers, 'accept-encoding': 'identity' };
      const { bytes, whole } = await buffered(await transport.request({ ...request, headers }));
      const json = jsonOf(bytes);
      if (json !== undefined) {
        await keep(request, { status: whole.status, json }).catch((error: unknown) =>
          note(`note: not recorded: ${messageOf(error)}`),
        );
      }
      return whole;
    },
  };
}

async function buffered(response: TransportResponse): Promise<{ bytes: Buffer; whole: TransportResponse }> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) {
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  return { bytes, whole: { ...response, body: bodyOf(bytes) } };
}

/** Bytes as the body of an answer. */
export async function* bodyOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Path and query of a URL below the base URL; undefined for any other. */
export function pathBelow(baseUrl: string, url: string): string | undefined {
  return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined;
}

/** What is not an answer to the request itself: too many requests, and what stands between here and the service. */
function isWorthKeeping({ status, json }: ReadAnswer): boolean {
  if (!isObject(json) || typeof json['status'] !== 'string' || status === 429) {
    return false;
  }
  return ![502, 503].includes(status);
}

function creationOf(
  request: TransportRequest,
  place: string,
  creations: ReadonlyMap<string, RecordedRequest>,
  running: ReadonlyMap<string, RecordedRequest>,
): RecordedRequest | undefined {
  if (request.method === 'POST' && place === '/runs') {
    return creations.get(request.headers[IDEMPOTENCY_KEY_HEADER] ?? '');
  }
  const [, runId = ''] = /^\/runs\/([^/?]+)$/u.exec(place) ?? [];
  return request.method === 'GET' ? running.get(runId) : undefined;
}

/** A run that goes on is kept once a poll gives its end. */
async function keepCreation(
  kept: RecordingDirectory,
  request: RecordedRequest,
  { status, json }: ReadAnswer,
  running: Map<string, RecordedRequest>,
  options: RecordOptions,
): Promise<void> {
  const data = isObject(json) && isObject(json['data']) ? json['data'] : {};
  const { runId, runStatus, outputs } = data;
  const goesOn = status === 504 || (status === 200 && runStatus !== 'succeeded' && runStatus !== 'failed');
  if (goesOn) {
    if (typeof runId === 'string') {
      running.set(runId, request);
    }
    return;
  }
  const media = status === 200 ? await keepMedia(kept, outputs, options) : [];
  await kept.write({ request, answer: { httpStatus: status, body: json }, media });
}

async function keepMedia(
  kept: RecordingDirectory,
  outputs: unknown,
  { download, note }: RecordOptions,
): Promise<RecordedMedia[]> {
  const media: RecordedMedia[] = [];
  for (const item of listOf(outputs)) {
    const { type, data: url } = isObject(item) ? item : {};
    if ((type !== 'image' && type !== 'video') || typeof url !== 'string') {
      continue;
    }
    try {
      const { body, contentType } = await download(url);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) {
        chunks.push(chunk);
      }
      const sha256 = await kept.writeMedia(Buffer.concat(chunks));
      media.push({ url, sha256, contentType: contentType ?? null });
    } catch (error) {
      note(`note: an output was not recorded: ${messageOf(error)}`);
    }
  }
  return media;
}
