import { open } from 'node:fs/promises';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { ApiError, notFound } from '../http/api-error.ts';
import type { App } from '../http/app-type.ts';
import { MEDIA_PATH, type OpenedMedia } from '../media/media.ts';
import type { Services } from '../services.ts';

/** Generated pictures and videos, by signed URLs that need no key. */
export function mediaRoutes(app: App, { media }: Services): void {
  app.get(
    `${MEDIA_PATH}/:file`,
    {
      config: { summary: 'A generated picture or video', errors: ['NOT_FOUND_ERROR', 'GONE_ERROR'] },
      schema: {
        params: Type.Object({ file: Type.String() }),
        querystring: Type.Object({
          expires: Type.Optional(Type.String()),
          signature: Type.Optional(Type.String()),
        }),
      },
    },
    async (request, reply) => {
      const { expires = '', signature = '' } = request.query;
      return await sendMedia(reply, await media.open(request.params.file, expires, signature));
    },
  );
}

async function sendMedia(reply: FastifyReply, opened: OpenedMedia): Promise<FastifyReply> {
  if (opened.state === 'expired') {
    throw new ApiError('GONE_ERROR', 'this URL has expired: such URLs live 24 hours');
  }
  if (opened.state !== 'found') throw notFound('there is no such file, or the URL was altered');
  const { media } = opened;
  const handle = await open(opened.file).catch(() => undefined);
  if (!handle) throw notFound('the file is no longer there');
  return await reply
    .type(media.mediaType)
    .header('content-length', media.size)
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('cache-control', 'private, max-age=3600')
    .send(handle.createReadStream());
}
