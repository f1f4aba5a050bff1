import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_BODY_BYTES } from '../../wire/index.ts';
import { ApiError, badRequest, errorEnvelope, invalid, notFound } from './api-error.ts';
import { validationMessage } from './validation-message.ts';

/** Puts every fault of a request into the envelope; what nobody foresaw is reported and answered 500. */
export function errorAnswerer(onFault: (error: unknown) => void) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = refusalOf(error, request);
    if (!refusal) onFault(error);
    const { httpStatus, status, message, data, retryAfterSeconds } = refusal ?? serverError(error);
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(Math.ceil(retryAfterSeconds)));
    // Fastify would hang up on a caller that is still sending, who then never sees the answer.
    void reply
      .removeHeader('connection')
      .code(httpStatus)
      .type('application/json; charset=utf-8')
      .serializer(JSON.stringify)
      .send(errorEnvelope(status, message, data));
  };
}

function refusalOf(error: FastifyError, request: FastifyRequest): ApiError | undefined {
  if (error instanceof ApiError && !(request.is404 && error.status === 'BAD_REQUEST_ERROR')) return error;
  if (error.code === 'FST_ERR_BAD_URL') return badRequest('the path is no valid URL');
  // What is sent to a route that does not exist matters to nobody.
  if (request.is404) return notFound('there is no such route');
  if (error.validation) return invalid(validationMessage(error.validation));
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge();
  const status = error.statusCode ?? 500;
  return status >= 400 && status < 500 ? badRequest(error.message) : undefined;
}

function tooLarge(): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE_ERROR', `the request body is larger than ${MAX_BODY_BYTES} bytes`);
}

/** A fault of the store is worth naming: its owner is the one who reads it. */
function serverError(error: Error): ApiError {
  const ofStore =
    'errcode' in error || ('code' in error && typeof error.code === 'string' && 'syscall' in error);
  return new ApiError(
    'SERVER_ERROR',
    ofStore ? `the service can't use its store: ${error.message}` : 'internal error',
  );
}
