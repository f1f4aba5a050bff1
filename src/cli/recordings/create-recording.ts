import type { Download } from '../../client/download.ts';
import { toTextOrEmpty } from '../../files/formats/json-fields.ts';
import { LinkFault } from '../../files/writing/write-below.ts';
import type { EngineFault } from '../../models/engine.ts';
import { withTimeout } from '../../utils/abort-signals.ts';
import {
  isJsonObject,
  readListAt,
  readValueAt,
  type UncheckedObject,
} from '../../utils/bounded-json.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { RecordedRequest } from './recorder.ts';
import {
  MAX_MEDIA,
  MAX_RECORDED_MEDIA_BYTES,
  type RecordedAnswer,
  type RecordedMedia,
  type Recording,
  type RecordingDirectory,
  RecordingTooBigError,
} from './recording-directory.ts';

/** The options of a recorder. */
export interface RecordOptions {
  readonly directory: string;
  /** The service's base URL; answers from elsewhere are not recorded. */
  readonly baseUrl: string;
  /** Fetches generated media without the key. */
  readonly download: (url: string, limits: { readonly signal: AbortSignal }) => Promise<Download>;
  readonly signal: AbortSignal;
  readonly note: (line: string) => void;
  /** Explains why a run failed before a model answered, which its answer doesn't say. */
  readonly findFault: (runId: string) => EngineFault | undefined;
  /** Returns the cost of an ended run in US dollars; undefined if unknown. */
  readonly findCost: (runId: string) => Promise<number | undefined>;
  /** Returns the keys of providers and addresses, which an answer may echo. */
  readonly readProviderKeys: () => Promise<readonly string[]>;
}

/** Time limit for fetching the media of a run, in milliseconds. */
const MEDIA_TIMEOUT_MS = 120_000;

/** Creates the recording of a creation, and downloads the media in its answer. */
export async function createRecording(
  directory: RecordingDirectory,
  request: RecordedRequest,
  { httpStatus, body: answerBody }: RecordedAnswer,
  options: RecordOptions,
): Promise<Recording> {
  const body =
    httpStatus === 200 ? { ...answerBody, data: toTypedRun(answerBody['data']) } : answerBody;
  const { media, notKept } = await withTimeout(MEDIA_TIMEOUT_MS, options.signal, signal =>
    recordMedia(directory, body, { ...options, signal }),
  );
  const runId = toTextOrEmpty(readValueAt(body['data'], 'runId'));
  const fault = options.findFault(runId);
  const cost = await options.findCost(runId);

  return {
    request,
    answer: { httpStatus, body },
    media,
    notKept,
    ...(fault && { fault }),
    ...(cost !== undefined && { cost }),
  };
}

/** Returns a run with the types of the interface, because a replay refuses others. */
function toTypedRun(data: unknown): unknown {
  if (!isJsonObject(data)) return data;
  return {
    ...data,
    tokens:
      Number.isSafeInteger(data['tokens']) && Number(data['tokens']) >= 0 ? data['tokens'] : null,
    ...('warnings' in data && {
      warnings: readListAt(data['warnings']).filter(warning => typeof warning === 'string'),
    }),
    outputs: readListAt(data['outputs'])
      .filter(isJsonObject)
      .map(item => ({
        ...item,
        type: toTextOrEmpty(item['type']),
        data: toTextOrEmpty(item['data']),
      })),
  };
}

async function recordMedia(
  directory: RecordingDirectory,
  { data }: UncheckedObject,
  { download, note, signal }: RecordOptions,
): Promise<{ media: RecordedMedia[]; notKept: string[] }> {
  const media: RecordedMedia[] = [];
  const notKept: string[] = [];
  let bytesLeft = MAX_RECORDED_MEDIA_BYTES;
  for (const [index, url] of listMediaUrls(data).entries()) {
    try {
      if (index >= MAX_MEDIA) {
        throw new RecordingTooBigError(`the run has more than ${MAX_MEDIA} images and videos`);
      }
      const { body, contentType = null } = await download(url, { signal });
      const { sha256, size } = await directory.writeMedia(body, bytesLeft);
      bytesLeft -= size;
      media.push({ url, sha256, contentType });
    } catch (error) {
      if (error instanceof LinkFault) throw error;
      if (error instanceof RecordingTooBigError) notKept.push(url);
      // A note about the first medium too many is enough.
      if (index <= MAX_MEDIA) {
        note(`note: an output was not recorded: ${url}: ${getErrorMessage(error)}`);
      }
      if (signal.aborted) break;
    }
  }

  return { media, notKept };
}

function listMediaUrls(data: unknown): string[] {
  return readListAt(isJsonObject(data) ? data['outputs'] : undefined).flatMap(item => {
    const { type, data: url } = isJsonObject(item) ? item : {};
    return (type === 'image' || type === 'video') && typeof url === 'string' ? [url] : [];
  });
}
