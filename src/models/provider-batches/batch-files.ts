import { isJsonObject, MAX_JSON, parseBoundedJson } from '../../utils/bounded-json.ts';
import type { HttpAnswer } from '../outgoing/open-http.ts';
import type { TypedBody } from '../providers/request-provider.ts';
import { MAX_PROVIDER_ANSWER_BYTES } from '../providers/send-request.ts';

/** Minimum size of the chunks that small pieces are joined into, in bytes; the last may be less. */
const MIN_CHUNK_BYTES = 64 * 1024;

/** Returns a body that is assembled from pieces while it is sent. */
export function createStreamedBody(
  contentType: string,
  pieces: () => Iterable<string | Uint8Array>,
): TypedBody {
  let length = 0;
  for (const piece of pieces()) length += Buffer.byteLength(piece);
  return { contentType, length, pieces: joinSmallPieces(pieces()) };
}

function* joinSmallPieces(pieces: Iterable<string | Uint8Array>): Generator<Uint8Array> {
  let smallPieces: Uint8Array[] = [];
  let joinedBytes = 0;
  for (const piece of pieces) {
    const encodedPiece = typeof piece === 'string' ? Buffer.from(piece) : piece;
    smallPieces.push(encodedPiece);
    joinedBytes += encodedPiece.length;
    if (joinedBytes < MIN_CHUNK_BYTES) continue;
    yield* smallPieces.length === 1 ? smallPieces : [Buffer.concat(smallPieces)];
    smallPieces = [];
    joinedBytes = 0;
  }

  if (joinedBytes > 0) yield Buffer.concat(smallPieces);
}

/** Limits for the JSON of one result. */
const BATCH_ANSWER_BOUNDS = { ...MAX_JSON, values: 100_000 };

/** Yields the results in a file of lines. Skips lines that can't be read or are too long. */
export async function* readResults(
  response: HttpAnswer,
): AsyncGenerator<{ customId: string; result: Record<string, unknown> }> {
  for await (const line of readLines(response)) {
    const result = parseResultLine(line);
    if (isJsonObject(result) && typeof result['custom_id'] === 'string') {
      yield { customId: result['custom_id'], result };
    }
  }
}

async function* readLines({ body }: HttpAnswer): AsyncGenerator<string> {
  const decoder = new TextDecoder();

  /** The current line; undefined once it is too long. */
  let line: string | undefined = '';
  for await (const chunk of body) {
    const [end = '', ...starts] = decoder.decode(chunk, { stream: true }).split('\n');
    line = appendPiece(line, end);
    for (const start of starts) {
      yield line ?? '';
      line = appendPiece('', start);
    }
  }

  yield line ?? '';
}

function appendPiece(line: string | undefined, piece: string): string | undefined {
  return line === undefined || line.length + piece.length > MAX_PROVIDER_ANSWER_BYTES
    ? undefined
    : line + piece;
}

function parseResultLine(line: string): unknown {
  try {
    return parseBoundedJson(line, BATCH_ANSWER_BOUNDS);
  } catch {
    return undefined;
  }
}
