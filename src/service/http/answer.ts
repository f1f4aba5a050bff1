import type { FastifyRequest } from 'fastify';
import { ApiError } from './api-error.ts';
import type { Caller } from './auth.ts';

/** Who sent this request; every route under /v1 has one. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new ApiError('UNAUTHORIZED_ERROR', 'the API key is missing or not valid');
  return request.caller;
}

/** A success's envelope. */
export function success<T>(data: T): { status: 'SUCCESS'; data: T } {
  return { status: 'SUCCESS', data };
}
