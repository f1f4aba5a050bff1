import { notFound, Refusal } from '../core/refusal.ts';
import { ApiError, createErrorAnswer } from '../http/api-error.ts';
import type { ApiAnswer } from '../http/route.ts';
import { object, text } from '../http/schema.ts';
import type { FoundMedia } from '../media/media.ts';
import { MEDIA_PATH, type SignedUrls } from '../media/signed-urls.ts';
import type { ByteRange } from '../store/blobs/blobs.ts';
import { type AnyRoute, defineRoute } from './services.ts';

/** Returns the route of signed media URLs, which need no key. */
export function createMediaRoutes(urls: SignedUrls): readonly AnyRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${MEDIA_PATH}/:file`,
      id: 'getMedia',
      tag: 'Media',
      summary: 'Download a generated picture or video',
      description:
        'The signed URLs in outputs point here. They need no key and are valid for 24 hours. With `Range`, answers 206 with that range.',
      errors: [
        'NOT_FOUND_ERROR',
        'GONE_ERROR',
        'RANGE_NOT_SATISFIABLE_ERROR',
        'VALIDATION_ERROR',
        'SERVICE_UNAVAILABLE_ERROR',
      ],
      params: object({ file: text() }),
      query: object(
        {},
        { expires: text({ description: 'Expiry of the URL, in Unix seconds' }), signature: text() },
      ),
      headers: object(
        {},
        {
          Range: text({ description: 'A single byte range; several ranges return the whole file' }),
        },
      ),
      async handle({ media }, { params, query: { expires = '', signature = '' }, headers }) {
        const namedMedia = urls.verifyPath(params.file, expires, signature);
        if (namedMedia === 'forged') {
          throw notFound('the file does not exist, or its URL was changed');
        }
        const foundMedia =
          namedMedia === 'expired' ? namedMedia : ((await media.find(namedMedia.id)) ?? 'missing');

        // `If-Range` never matches, because answers have no validator.
        return await answerMedia(
          foundMedia,
          headers['if-range'] === undefined ? headers.range : undefined,
        );
      },
    }),
  ];
}

/**
 * Answers with the media of a URL.
 *
 * @param range the value of a `Range` header
 * @throws {Refusal} if the media is missing or expired
 */
export async function answerMedia(
  file: FoundMedia | 'missing' | 'expired',
  range?: string,
): Promise<ApiAnswer> {
  if (file === 'expired') {
    throw new Refusal('GONE', 'this URL has expired: media URLs are valid for 24 hours');
  }

  if (file === 'missing') throw notFound('the file does not exist');

  const { mediaType, size } = file.media;
  const requestedRange = parseRange(range, size);
  if (requestedRange === 'outside') return rangeRefusal(size);

  // Exactly the announced length, even if the file has changed.
  const sentRange = requestedRange ?? { from: 0, to: size - 1 };
  const bytes = await file.open(size === 0 ? undefined : sentRange);
  if (!bytes) throw notFound('the file does not exist');

  return {
    httpStatus: requestedRange ? 206 : 200,
    headers: {
      'content-type': mediaType,
      'content-length': String(sentRange.to - sentRange.from + 1),
      'accept-ranges': 'bytes',
      ...(requestedRange && {
        'content-range': `bytes ${requestedRange.from}-${requestedRange.to}/${size}`,
      }),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, max-age=3600',
    },
    body: bytes,
  };
}

/**
 * Returns the single byte range of a `Range` header; undefined, for the whole file, if the header
 * has any other form.
 */
function parseRange(header: string | undefined, size: number): ByteRange | 'outside' | undefined {
  // `bytes=0-99`, `bytes=100-` from a byte on, or `bytes=-100` for the last ones.
  const [, firstByte = '', lastByte = ''] =
    /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (firstByte === '' && lastByte === '') return undefined;
  if (firstByte === '') return toLastBytes(Number(lastByte), size);

  const from = Number(firstByte);
  if (lastByte !== '' && Number(lastByte) < from) return undefined;
  if (from >= size) return 'outside';
  return { from, to: lastByte === '' ? size - 1 : Math.min(Number(lastByte), size - 1) };
}

function toLastBytes(count: number, size: number): ByteRange | 'outside' {
  return count === 0 || size === 0 ? 'outside' : { from: Math.max(0, size - count), to: size - 1 };
}

function rangeRefusal(size: number): ApiAnswer {
  const refusal = new ApiError('RANGE_NOT_SATISFIABLE_ERROR', `the file has ${size} bytes`);
  const answer = createErrorAnswer(refusal, () => {});
  return { ...answer, headers: { ...answer.headers, 'content-range': `bytes */${size}` } };
}
