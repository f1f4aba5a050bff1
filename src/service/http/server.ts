import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { errorCode, errorMessage, toError } from '../../utils/error-utils.ts';
import { MAX_BODY_BYTES, parseTraceparent, TRACEPARENT_HEADER } from '../../wire/index.ts';
import { letOthersIn, PendingWork } from '../core/background-work.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import type { Api } from './api.ts';
import { ApiError, answerError, badRequest, tooLarge } from './api-error.ts';
import { LIVENESS_PATH, READINESS_PATH } from './health-paths.ts';
import { hostCheck, inUrl, isWildcard } from './host-check.ts';
import { envelopeRefusals } from './malformed.ts';
import { MemoryBudget, type RequestRoom } from './memory-budget.ts';
import type { ApiAnswer } from './route.ts';

/** One request and its answer, for the log. */
export interface ServedRequest {
  /** The user's name; undefined if the key was missing or unknown. */
  readonly user: string | undefined;
  readonly method: string;
  /** The path without its query, which may hold a signature. */
  readonly path: string;
  readonly httpStatus: number;
  readonly durationMs: number;
  /** The declared path of the route; undefined if there is none. */
  readonly route: string | undefined;
  readonly traceparent: string | undefined;
}

interface HttpServerOptions {
  readonly api: Api;
  readonly host: string;
  /** The beginning of media URLs; default: the address that the request was sent to. */
  readonly publicUrl?: string | undefined;
  /** Aborted when connections have to close after their next answer. */
  readonly closing: AbortSignal;
  readonly onRequest?: ((event: ServedRequest) => void) | undefined;
  /** Called with notices for the operator. */
  readonly onNotice?: ((line: string) => void) | undefined;
  /** Maximum bytes of all requests in memory; default 256 MiB. */
  readonly maxRequestBytes?: number | undefined;
  /** The time for which an answer waits for its caller to continue reading, in milliseconds; default two minutes. */
  readonly stalledMs?: number | undefined;
}

export interface HttpServer {
  readonly server: Server;
  /** Closes connections that never sent a request. */
  readonly endUnused: () => void;
  /** The requests whose headers have arrived and whose answers are not sent. */
  readonly requests: PendingWork;
}

/** Maximum time for a request to arrive, in milliseconds; its answer may take longer. */
const REQUEST_TIMEOUT_MS = 300_000;
/** The time for which an idle connection is kept, in milliseconds: longer than proxies do. */
const KEEP_ALIVE_MS = 72_000;
const STALLED_MS = 120_000;
/** Length of an answer that takes milliseconds to encode. */
const LONG_ANSWER = 256 * 1024;
/** Maximum number of connections; a creation may hold one for two minutes. */
const MAX_HTTP_CONNECTIONS = 4096;

const MISDIRECTED =
  'a request named another host and was refused; start with --public-url if the service is reached under another name';
const HEALTH_PATHS: ReadonlySet<string> = new Set([LIVENESS_PATH, READINESS_PATH]);

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const requests = new PendingWork();
  const budget = new MemoryBudget(options.maxRequestBytes);
  const isOurs = hostCheck(options.host, options.publicUrl);
  // Remembered, because requests may still arrive after the server has stopped listening and lost its address.
  let ownOrigin = '';
  let isMisdirectionNoted = false;
  const checkHost = ({ headers: { host }, url = '' }: IncomingMessage): boolean => {
    // Load balancers may ask for health in HTTP/1.0, which needs no host; browsers always send one.
    if (isOurs(host) || (host === undefined && HEALTH_PATHS.has(url))) return true;
    if (!isMisdirectionNoted) options.onNotice?.(MISDIRECTED);
    isMisdirectionNoted = true;
    return false;
  };
  const sockets = new Set<Socket>();
  const server = createServer(
    { requireHostHeader: false, requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => {
      void requests.track(new Promise(resolve => response.once('close', resolve)));
      // An answer that was in flight when closing began leaves its connection open.
      response.once('close', () => {
        if (options.closing.aborted) setImmediate(() => server.closeIdleConnections());
      });
      void answer(options, request, response, {
        budget,
        origin: originFor(options, ownOrigin, request),
        isOurs: checkHost(request),
      });
    },
  );
  server.maxConnections = MAX_HTTP_CONNECTIONS;
  server.once('listening', () => {
    ownOrigin = serverOrigin(server, options.host);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  envelopeRefusals(server);
  return { server, requests, endUnused: () => endUnused(sockets) };
}

function endUnused(sockets: Iterable<Socket>): void {
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
}

/** Returns the origin of a listening server, such as `http://127.0.0.1:8787`. */
export function serverOrigin(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${inUrl(host)}:${port}`;
}

/** Returns the beginning of media URLs in the answer to a request. */
function originFor(
  { host, publicUrl }: HttpServerOptions,
  ownOrigin: string,
  request: IncomingMessage,
): string {
  const called = request.headers.host;
  // A wildcard address is useless on another machine, so the address that the caller used is taken.
  return publicUrl ?? (isWildcard(host) && called ? `http://${called}` : ownOrigin);
}

async function answer(
  { api, closing, onRequest, stalledMs = STALLED_MS }: HttpServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  { budget, origin, isOurs }: { budget: MemoryBudget; origin: string; isOurs: boolean },
): Promise<void> {
  const { method = '', url: target = '', headers } = request;
  const startedAt = performance.now();
  let room: RequestRoom | undefined;
  response.once('close', () => room?.close());
  const memoryFor = (userId: number): RequestMemory => {
    room = budget.room(userId);
    if (response.closed) room.close();
    return room;
  };
  const readBody = (memory: RequestMemory): Promise<Buffer> => readRequestBody(request, memory);
  const result = isOurs ? await api({ method, target, headers, origin, memoryFor, readBody }) : misdirected();
  room?.free();
  if (closing.aborted) {
    response.setHeader('connection', 'close');
    await discardRest(request);
  }
  cutOffStalled(response, stalledMs);
  await sendAnswer(response, result, { headOnly: method === 'HEAD' }).catch(() => response.destroy());
  onRequest?.({
    user: result.user,
    method,
    path: target.split('?', 1)[0] ?? '',
    httpStatus: result.httpStatus,
    durationMs: performance.now() - startedAt,
    route: result.route,
    traceparent: parseTraceparent(headers[TRACEPARENT_HEADER]),
  });
}

/** Discards the rest of a request: closing the connection while the caller still sends would lose the answer. */
async function discardRest(request: IncomingMessage): Promise<void> {
  if (request.complete || request.closed) return;
  request.resume();
  await once(request, 'close').catch(() => {});
}

/** Ends an answer whose caller has stopped reading. */
function cutOffStalled(response: ServerResponse, stalledMs: number): void {
  response.setTimeout(stalledMs);
  // If the next request has already arrived, Node keeps the timeout, although its answer may take longer. Runs before
  // Node's own listener, which sets the timeout of an idle connection.
  response.prependOnceListener('finish', () => response.setTimeout(0));
}

async function sendAnswer(
  response: ServerResponse,
  { httpStatus, headers, body }: ApiAnswer,
  { headOnly }: { readonly headOnly: boolean },
) {
  if (typeof body === 'string' && body.length > LONG_ANSWER) {
    await letOthersIn();
    const bytes = Buffer.from(body);
    response.writeHead(httpStatus, { ...headers, 'content-length': bytes.length });
    response.end(headOnly ? undefined : bytes);
    return;
  }
  if (typeof body === 'string') {
    response.writeHead(httpStatus, { ...headers, 'content-length': Buffer.byteLength(body) });
    response.end(headOnly ? undefined : body);
    return;
  }
  response.writeHead(httpStatus, headers);
  if (!headOnly) return await pipeline(body, response);
  body.destroy();
  response.end();
}

function misdirected(): ApiAnswer {
  const refusal = new ApiError('MISDIRECTED_REQUEST_ERROR', 'the Host header does not name this service');
  return answerError(refusal, () => {});
}

/** Reads the body. Leaves a body that is too large to Node, which discards it, so that the answer reaches the caller. */
function readRequestBody(request: IncomingMessage, memory: RequestMemory): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const take = (piece: Buffer): void => {
      try {
        length += piece.length;
        if (length > MAX_BODY_BYTES) throw tooLarge();
        memory.take(piece.length);
        pieces.push(piece);
      } catch (error) {
        pieces.length = 0;
        memory.free();
        request.off('data', take).resume();
        reject(toError(error));
      }
    };
    request.on('data', take);
    request.on('end', () => resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)));
    request.on('error', () => reject(badRequest('the request was cut short')));
  });
}

/** The service can't listen on its address. The message names the address and the remedy. */
class ListenError extends Error {
  readonly code = 'CANNOT_LISTEN';
}

/** The flags that name the address of the service. */
const ADDRESS_FLAGS = { host: '--host', port: '--port' };

/** Resolves once the server accepts connections. @throws {ListenError} if it can't; the message names the flags */
export async function listen(
  server: Server,
  host: string,
  port: number,
  flags: Readonly<typeof ADDRESS_FLAGS> = ADDRESS_FLAGS,
): Promise<void> {
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    const reason = LISTEN_FAULTS[errorCode(error) ?? '']?.(flags) ?? errorMessage(error);
    throw new ListenError(`can't listen on ${inUrl(host)}:${port}: ${reason}`, { cause: error });
  }
}

const noSuchAddress = ({ host }: typeof ADDRESS_FLAGS): string =>
  `this machine has no such address; check ${host}`;

const LISTEN_FAULTS: Readonly<Record<string, (flags: typeof ADDRESS_FLAGS) => string>> = {
  EADDRINUSE: ({ port }) => `the port is in use; choose another one with ${port}, or 0 for any free one`,
  EACCES: ({ port }) => `that port is not allowed; choose one above 1023 with ${port}`,
  EADDRNOTAVAIL: noSuchAddress,
  ENOTFOUND: noSuchAddress,
};
