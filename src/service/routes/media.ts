import { notFound, Refusal } from '../core/refusal.ts';
import { ApiError, answerError } from '../http/api-error.ts';
import type { ApiAnswer } from '../http/route.ts';
import { object, text } from '../http/schema.ts';
import type { FoundMedia } from '../media/media.ts';
import { MEDIA_PATH, type SignedUrls } from '../media/signed-urls.ts';
import type { ByteRange } from '../store/blobs.ts';
import { type AnyRoute, route } from './route.ts';

/** Generated pictures and videos, by signed URLs that need no key. */
export function mediaRoutes(urls: SignedUrls): readonly AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: `${MEDIA_PATH}/:file`,
      id: 'getMedia',
      tag: 'Media',
      summary: 'A generated picture or video',
      description:
        'Where the URLs in outputs lead. They need no key and live 24 hours. With `Range`, the answer is 206 with that part.',
      errors: [
        'NOT_FOUND_ERROR',
        'GONE_ERROR',
        'RANGE_NOT_SATISFIABLE_ERROR',
        'VALIDATION_ERROR',
        'SERVICE_UNAVAILABLE_ERROR',
      ],
      params: object({ file: text() }),
      query: object({}, { expires: text({ description: 'Unix seconds' }), signature: text() }),
      headers: object({}, { Range: text({ description: 'One range of bytes; several give the whole' }) }),
      async handle({ media }, { params, query: { expires = '', signature = '' }, headers }) {
        const named = urls.mediaIdOf(params.file, expires, signature);
        if (named === 'forged') throw notFound('there is no such file, or the URL was altered');
        const found = named === 'expired' ? named : ((await media.find(named.id)) ?? 'missing');
        // An answer has nothing to compare `If-Range` with, so that it never applies.
        return await mediaAnswer(found, headers['if-range'] === undefined ? headers.range : undefined);
      },
    }),
  ];
}

/**
 * Answers with what a media URL leads to.
 *
 * @param range the value of a `Range` header
 * @throws {Refusal} if it leads nowhere
 */
export async function mediaAnswer(
  file: FoundMedia | 'missing' | 'expired',
  range?: string,
): Promise<ApiAnswer> {
  if (file === 'expired') {
    throw new Refusal('GONE', 'this URL has expired: such URLs live 24 hours');
  }
  if (file === 'missing') throw notFound('there is no such file');
  const { mediaType, size } = file.media;
  const part = rangeIn(range, size);
  if (part === 'outside') return outside(size);
  // Never more than the length that is announced, whatever the file has become.
  const sent = part ?? { from: 0, to: size - 1 };
  const bytes = await file.open(size === 0 ? undefined : sent);
  if (!bytes) throw notFound('there is no such file');
  return {
    httpStatus: part ? 206 : 200,
    headers: {
      'content-type': mediaType,
      'content-length': String(sent.to - sent.from + 1),
      'accept-ranges': 'bytes',
      ...(part && { 'content-range': `bytes ${part.from}-${part.to}/${size}` }),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, max-age=3600',
    },
    body: bytes,
  };
}

/** Returns the one range of bytes that a header asks for; undefined, which stands for all, if it asks for anything else. */
function rangeIn(header: string | undefined, size: number): ByteRange | 'outside' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    return Number(last) === 0 || size === 0
      ? 'outside'
      : { from: Math.max(0, size - Number(last)), to: size - 1 };
  }
  const [from, to] = [Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1)];
  if (last !== '' && Number(last) < from) return undefined;
  return from < size ? { from, to } : 'outside';
}

function outside(size: number): ApiAnswer {
  const refusal = new ApiError('RANGE_NOT_SATISFIABLE_ERROR', `the file has ${size} bytes`);
  const answer = answerError(refusal, () => {});
  return { ...answer, headers: { ...answer.headers, 'content-range': `bytes */${size}` } };
}
