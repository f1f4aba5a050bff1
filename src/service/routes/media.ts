import { open } from 'node:fs/promises';
import { ApiError, notFound } from '../http/api-error.ts';
import { type ApiAnswer, route } from '../http/route.ts';
import { MEDIA_PATH, type OpenedMedia } from '../media/media.ts';
import { object, text } from '../schemas/schema.ts';

/** Generated pictures and videos, by signed URLs that need no key (interface §2). */
export const mediaRoutes = [
  route({
    method: 'GET',
    path: `${MEDIA_PATH}/:file`,
    operation: {
      id: 'getMedia',
      tag: 'Media',
      summary: 'A generated picture or video',
      description: 'Where the URLs in outputs lead. They need no key and live 24 hours.',
    },
    errors: ['NOT_FOUND_ERROR', 'GONE_ERROR', 'VALIDATION_ERROR'],
    params: object({ file: text() }),
    query: object({}, { expires: text({ description: 'Unix seconds' }), signature: text() }),
    async handle({ media }, { params, query }) {
      return await mediaAnswer(await media.open(params.file, query.expires ?? '', query.signature ?? ''));
    },
  }),
];

/** What a media URL leads to, as an answer; throws ApiError. */
export async function mediaAnswer(opened: OpenedMedia): Promise<ApiAnswer> {
  if (opened.state === 'expired') {
    throw new ApiError('GONE_ERROR', 'this URL has expired: such URLs live 24 hours');
  }
  if (opened.state !== 'found') throw notFound('there is no such file, or the URL was altered');
  const { media, file } = opened;
  const handle = await open(file).catch(() => undefined);
  if (!handle) throw notFound('the file is no longer there');
  return {
    httpStatus: 200,
    headers: {
      'content-type': media.mediaType,
      'content-length': String(media.size),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, max-age=3600',
    },
    body: handle.createReadStream(),
  };
}
