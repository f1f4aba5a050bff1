import { notFound, Refusal } from '../core/refusal.ts';
import type { ApiAnswer } from '../http/route.ts';
import { object, text } from '../http/schema.ts';
import type { FoundMedia } from '../media/media.ts';
import { MEDIA_PATH, type SignedUrls } from '../media/signed-urls.ts';
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
      description: 'Where the URLs in outputs lead. They need no key and live 24 hours.',
      errors: ['NOT_FOUND_ERROR', 'GONE_ERROR', 'VALIDATION_ERROR'],
      params: object({ file: text() }),
      query: object({}, { expires: text({ description: 'Unix seconds' }), signature: text() }),
      async handle({ media }, { params, query: { expires = '', signature = '' } }) {
        const named = urls.mediaIdOf(params.file, expires, signature);
        if (named === 'forged') throw notFound('there is no such file, or the URL was altered');
        return await mediaAnswer(named === 'expired' ? named : ((await media.find(named.id)) ?? 'missing'));
      },
    }),
  ];
}

/** What a media URL leads to, as an answer; throws Refusal. */
export async function mediaAnswer(file: FoundMedia | 'missing' | 'expired'): Promise<ApiAnswer> {
  if (file === 'expired') {
    throw new Refusal('GONE', 'this URL has expired: such URLs live 24 hours');
  }
  const bytes = file === 'missing' ? undefined : await file.open();
  if (file === 'missing' || !bytes) throw notFound('there is no such file');
  return {
    httpStatus: 200,
    headers: {
      'content-type': file.media.mediaType,
      'content-length': String(file.media.size),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, max-age=3600',
    },
    body: bytes,
  };
}
