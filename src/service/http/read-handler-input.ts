import type { Caller } from '../core/caller.ts';
import { invalidRequest } from '../core/refusal.ts';
import { UNCOUNTED_MEMORY } from '../core/request-memory.ts';
import { ApiError } from './api-error.ts';
import { nulError, type ParseBody } from './parse-body.ts';
import { type ApiRequest, type HandlerInput, requiresKey } from './route.ts';
import type { RouteMatch } from './router.ts';
import type { Schema } from './schema.ts';
import { findValueFault } from './value-fault.ts';

/**
 * Returns the checked parts of a request for the handler of its route.
 *
 * @throws {ApiError} UNAUTHORIZED_ERROR, FORBIDDEN_ERROR, or for a body or text that can't be read
 * @throws {Refusal} INVALID_REQUEST if a part doesn't match its schema
 */
export async function readHandlerInput(
  request: ApiRequest,
  { route, params }: RouteMatch<never>,
  search: string,
  { caller, parseBody }: { readonly caller: Caller | undefined; readonly parseBody: ParseBody },
): Promise<HandlerInput> {
  if (!caller && requiresKey(route)) {
    throw new ApiError('UNAUTHORIZED_ERROR', 'the API key is missing or not valid');
  }

  if (route.authorsOnly && !caller?.isAuthor) {
    throw new ApiError(
      'FORBIDDEN_ERROR',
      'only the key of an author may publish; ask the operator of this service for one',
    );
  }

  if (Object.values(params).some(value => value.includes('\0'))) throw nulError('the path');

  const memory = (caller && request.createReservation?.(caller.userId)) ?? UNCOUNTED_MEMORY;
  const body = route.body && (await parseBody(await request.readBody(memory)));

  return {
    params: route.params ? requireValid(route.params, params) : params,
    query: route.query ? readQuery(route.query, search) : {},
    body: route.body && requireValid(route.body, body?.value),
    computeBodyDigest: () => body?.digest() ?? '',
    // Only routes under /v1 use it, and they require a key.
    caller: caller as Caller,
    headers: request.headers,
    origin: request.origin,
    memory,
  };
}

/**
 * Parses the query by its schema: fills in defaults and converts integers.
 *
 * @throws {Refusal} INVALID_REQUEST
 */
function readQuery(schema: Schema, search: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field.default !== undefined) query[name] = field.default;
  }

  const sentParams = new URLSearchParams(search);
  for (const name of new Set(sentParams.keys())) {
    const values = sentParams.getAll(name);
    if (values.some(value => value.includes('\0'))) throw nulError('the query');

    const field = Object.hasOwn(schema.properties ?? {}, name)
      ? schema.properties?.[name]
      : undefined;
    if (field) {
      query[name] = values.length === 1 ? convertQueryValue(field, values[0] ?? '') : values;
    }
  }

  return requireValid(schema, query);
}

/**
 * Returns the value if it matches.
 *
 * @throws {Refusal} INVALID_REQUEST that names the first fault
 */
function requireValid<T>(schema: Schema, value: T): T {
  const fault = findValueFault(schema, value);
  if (fault !== undefined) throw invalidRequest(fault);
  return value;
}

/** Converts an integer. In any other form it stays a text, which the schema refuses. */
function convertQueryValue(field: Schema, text: string): unknown {
  return field.type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}
