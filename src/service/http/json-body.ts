import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest } from './api-error.ts';

/** Reads every body as JSON, whatever its content type says; what is none is a bad request. */
export function acceptJson(app: FastifyInstance): void {
  // Fastify would refuse one that it can't make sense of.
  app.addHook('onRequest', async request => {
    delete request.raw.headers['content-type'];
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parse(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** A body that is not there at all is none that is JSON. */
export async function requireBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) throw notJson();
}

/** Plain JSON.parse: an input named `__proto__` is a name like any other. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw notJson();
  }
}

function notJson(): Error {
  return badRequest('the body is not JSON');
}
