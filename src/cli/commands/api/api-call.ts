import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ProtocolError } from '../../../client/errors.ts';
import { checkPageCount } from '../../../client/nouns/paging.ts';
import { MAX_BODY_BYTES, PATH_PREFIX } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { requireOneOf } from '../../core/unknown-name.ts';
import { type KeyValue, parseKeyValue } from '../../inputs/flag-values.ts';
import { readStandardInput, toFileFault } from '../../inputs/read-text.ts';
import type { API } from './spec.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const METHODS_WITHOUT_BODY = ['GET', 'DELETE'];

/** Matches the beginning of a URL with a scheme or a host: `https:` or `//host`. */
const ABSOLUTE_URL = /^([a-z][a-z\d+.-]*:|\/\/)/iu;

/** Matches `a`, `a[b]`, `a[b][c]` and so on. */
const KEY_PATH = /^[^[\]]+(?:\[[^[\]]+\])*$/u;

/** The request of an `api` command. */
export interface ApiCall {
  readonly method: string;
  /** The path below the base URL, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The JSON body, exactly as sent. */
  readonly body?: Buffer;
}

export type ApiFlags = FlagsOf<typeof API.flags>;

/**
 * Checks the arguments and reads the body.
 *
 * @throws {CliError} USAGE_ERROR before anything is sent
 */
export async function prepareApiCall(
  ctx: Context,
  target: Pick<ApiCall, 'method' | 'path'>,
  flags: ApiFlags,
  baseUrl: string,
): Promise<ApiCall> {
  const method = requireOneOf('method', target.method.toUpperCase(), METHODS);
  if (flags.paginate === true && method !== 'GET') throw usageError('--paginate is for GET only');

  const [pathname = '', search = ''] = resolveTargetPath(target.path, baseUrl).split(/\?(.*)/su);
  const query = new URLSearchParams(search);
  const fields = flags.field.map(field => parseKeyValue(field, '--field'));
  if (METHODS_WITHOUT_BODY.includes(method)) {
    if (flags.input !== undefined) throw usageError(`--input: a ${method} has no body`);
    for (const { key, value } of fields) query.append(key, value);
    return { method, path: pathname, query };
  }

  if (flags.input !== undefined && fields.length > 0) {
    throw usageError("--input and --field can't be used together", 'Put the fields into the body.');
  }

  const request = { method, path: pathname, query };
  if (flags.input !== undefined) {
    return { ...request, body: await readBodySource(ctx, flags.input) };
  }

  if (fields.length === 0) return request;
  return { ...request, body: Buffer.from(JSON.stringify(nestFields(fields))) };
}

/**
 * Returns the path below the base URL, with its query.
 *
 * @throws {CliError} for another origin or a path outside the base URL
 */
function resolveTargetPath(target: string, baseUrl: string): string {
  const localTarget = ABSOLUTE_URL.test(target) ? requireBelowBase(target, baseUrl) : target;

  // oxlint-disable-next-line no-control-regex -- a URL parser silently drops some of these
  if (/[\u0000-\u001f\u007f\\#]/u.test(localTarget)) {
    throw usageError(
      `${JSON.stringify(target)} is not a path`,
      'Write a path like /runs or /runs?limit=50.',
    );
  }

  const absolutePath = localTarget.startsWith('/') ? localTarget : `/${localTarget}`;
  const encodedPath = absolutePath.replace(/[^\u0021-\u007e]/gu, character =>
    encodeURIComponent(character),
  );
  const hasPrefix = encodedPath.startsWith(`${PATH_PREFIX}/`);
  return hasPrefix ? encodedPath.slice(PATH_PREFIX.length) : encodedPath;
}

function requireBelowBase(url: string, baseUrl: string): string {
  if (url.startsWith(`${baseUrl}/`)) return url.slice(baseUrl.length);
  throw usageError(
    `${JSON.stringify(url)} is not below ${baseUrl}`,
    'The key is sent only to the configured service: give the path, such as /runs.',
  );
}

async function readBodySource(ctx: Context, source: string): Promise<Buffer> {
  const body =
    source === '-'
      ? await readStandardInput(ctx, MAX_BODY_BYTES)
      : await readFile(path.resolve(ctx.cwd, source)).catch((error: unknown) => {
          throw toFileFault(error, source, '--input');
        });
  if (body.length > MAX_BODY_BYTES) {
    throw usageError(
      `--input: the body is larger than the ${MAX_BODY_BYTES / 1024 / 1024} MiB a service takes`,
    );
  }
  return body;
}

/** An object without a prototype, so that `__proto__` is an ordinary name. */
interface NestedFields {
  [name: string]: string | NestedFields;
}

/**
 * Returns the object that fields describe: `a=1` is a field, `a[b]=1` a field of an object. Every
 * value is a string.
 */
function nestFields(fields: readonly KeyValue[]): NestedFields {
  const root = Object.create(null) as NestedFields;
  for (const { key, value } of fields) putField(root, parseKeyPath(key), { key, value });
  return root;
}

/** Splits `a[b][c]` into `a`, `b` and `c`. */
function parseKeyPath(key: string): string[] {
  if (!KEY_PATH.test(key)) {
    throw usageError(`--field: ${JSON.stringify(key)} is not a field name`, 'Write a=1 or a[b]=1.');
  }
  return key.split(/[[\]]+/u).filter(Boolean);
}

function putField(
  target: NestedFields,
  [first = '', ...rest]: readonly string[],
  field: KeyValue,
): void {
  const nestedValue = target[first];
  if (nestedValue !== undefined && (rest.length === 0 || typeof nestedValue === 'string')) {
    throw usageError(`--field: ${field.key} is given twice`);
  }
  const innerFields = (nestedValue ?? Object.create(null)) as NestedFields;
  target[first] = rest.length === 0 ? field.value : innerFields;
  if (rest.length > 0) putField(innerFields, rest, field);
}

/**
 * Returns the call for the next page, in the direction of the first call; undefined at the end.
 *
 * @param seenCursors the cursors of the calls so far; that of the returned call is added
 * @throws {ProtocolError} if a cursor comes back, or after too many pages
 */
export function buildNextPageCall(
  call: ApiCall,
  envelope: { readonly data?: unknown },
  seenCursors: Set<string>,
): ApiCall | undefined {
  const { rows, hasMore } = (envelope.data ?? {}) as { rows?: unknown; hasMore?: unknown };
  if (hasMore !== true || !Array.isArray(rows)) return undefined;

  const isBackwards = call.query.has('endingBefore');
  const cursorParameter = isBackwards ? 'endingBefore' : 'startingAfter';
  const listCursor = findListCursor(isBackwards ? rows[0] : rows.at(-1));
  if (listCursor === undefined) return undefined;

  const { noun, cursor } = listCursor;
  if (call.query.get(cursorParameter) === cursor) return undefined;

  if (seenCursors.has(cursor)) {
    throw new ProtocolError(`the service returns the same page of ${noun} again and again`);
  }

  seenCursors.add(cursor);
  checkPageCount(noun, seenCursors.size + 1);
  const query = new URLSearchParams(call.query);
  query.set(cursorParameter, cursor);

  return { ...call, query };
}

/** Returns the cursor of a row of a list, and the rows' plural noun; undefined for other rows. */
function findListCursor(
  row: unknown,
): { readonly noun: string; readonly cursor: string } | undefined {
  const { runId, promptId } = (row ?? {}) as { runId?: unknown; promptId?: unknown };
  if (typeof runId === 'string') return { noun: 'runs', cursor: runId };
  if (typeof promptId === 'string') return { noun: 'prompts', cursor: promptId };
  return undefined;
}
