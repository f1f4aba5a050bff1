import type { Caller } from '../core/caller.ts';
import { invalidRequest } from '../core/refusal.ts';
import { UNCOUNTED } from '../core/request-memory.ts';
import { ApiError } from './api-error.ts';
import { findValueFault } from './check-schema.ts';
import { nulError, type ParseBody } from './parse-body.ts';
import { type ApiRequest, type HandlerInput, isKeyed } from './route.ts';
import type { RouteMatch } from './router.ts';
import type { Schema } from './schema.ts';

/**
 * Returns the checked parts of a request for the handler of its route.
 *
 * @throws {ApiError} UNAUTHORIZED_ERROR, FORBIDDEN_ERROR, VALIDATION_ERROR or BAD_REQUEST_ERROR
 */
export async function readHandlerInput(
  request: ApiRequest,
  { route, params }: RouteMatch<never>,
  search: string,
  { caller, parse }: { readonly caller: Caller | undefined; readonly parse: ParseBody },
): Promise<HandlerInput> {
  if (!caller && isKeyed(route)) {
    throw new ApiError('UNAUTHORIZED_ERROR', 'the API key is missing or not valid');
  }

  if (route.authorsOnly && !caller?.isAuthor) {
    throw new ApiError(
      'FORBIDDEN_ERROR',
      'only the key of an author may publish; ask the operator of this service for one',
    );
  }

  if (Object.values(params).some(value => value.includes('\0'))) throw nulError('the path');

  const memory = (caller && request.memoryFor?.(caller.userId)) ?? UNCOUNTED;
  const body = route.body && (await parse(await request.readBody(memory)));

  return {
    params: route.params ? requireValid(route.params, params) : params,
    query: route.query ? readQuery(route.query, search) : {},
    body: route.body && requireValid(route.body, body?.value),
    bodyDigest: () => body?.digest() ?? '',
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
 * @throws {ApiError} VALIDATION_ERROR
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
 * @throws {ApiError} VALIDATION_ERROR that names the first fault
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
