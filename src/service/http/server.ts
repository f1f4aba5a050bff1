import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { codeOf, messageOf, toError } from '../../files/error-utils.ts';
import { MAX_BODY_BYTES, TRACEPARENT_HEADER, traceparentOf } from '../../wire/index.ts';
import { PendingWork } from '../core/background-work.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import type { Api } from './api.ts';
import { ApiError, answerError, badRequest, tooLarge } from './api-error.ts';
import { hostCheck, inUrl, isWildcard } from './hosts.ts';
import { envelopeRefusals } from './malformed.ts';
import { MemoryBudget, type RequestRoom } from './memory-budget.ts';
import type { ApiAnswer } from './route.ts';

/** One request and its answer, for the log. */
export interface RequestEvent {
  /** Undefined where the key was missing or unknown. */
  readonly user: string | undefined;
  readonly method: string;
  /** Without its query, which may hold a signature. */
  readonly path: string;
  readonly httpStatus: number;
  readonly durationMs: number;
  /** The path of the route as it is declared; undefined if there is none. */
  readonly route: string | undefined;
  /** The one that came with the request. */
  readonly traceparent: string | undefined;
}

interface HttpServerOptions {
  readonly api: Api;
  readonly host: string;
  /** What media URLs begin with; default the address that the request came to. */
  readonly publicUrl?: string | undefined;
  /** Aborted once connections are to be closed after their next answer. */
  readonly closing: AbortSignal;
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called with what the operator should know. */
  readonly onNotice?: ((line: string) => void) | undefined;
  /** Bytes that requests keep in memory at a time; default 256 MiB. */
  readonly maxRequestBytes?: number | undefined;
  /** How long an answer may wait for its caller to take some of it, in milliseconds; default two minutes. */
  readonly stalledMs?: number | undefined;
}

export interface HttpServer {
  readonly server: Server;
  /** Ends connections on which nothing was ever sent. */
  readonly endUnused: () => void;
  /** The requests whose answer is not out yet, from the moment their headers arrived. */
  readonly requests: PendingWork;
}

/** How long a request may take to arrive, in milliseconds; how long its answer takes is another matter. */
const REQUEST_TIMEOUT_MS = 300_000;
/** How long a connection is kept for a next request, in milliseconds: longer than proxies in front keep theirs. */
const KEEP_ALIVE_MS = 72_000;
const STALLED_MS = 120_000;
/** Connections at a time; a creation holds one for two minutes. */
const MAX_CONNECTIONS = 4096;

const MISDIRECTED =
  'a request named another host and was refused; start with --public-url if the service is reached under another name';

/** The interface over HTTP. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const requests = new PendingWork();
  const budget = new MemoryBudget(options.maxRequestBytes);
  const isOurs = hostCheck(options.host, options.publicUrl);
  // A request may still arrive when the server has stopped listening and has no address any more.
  let ownOrigin = '';
  let isMisdirectionNoted = false;
  const checkHost = (host: string | undefined): boolean => {
    if (isOurs(host)) return true;
    if (!isMisdirectionNoted) options.onNotice?.(MISDIRECTED);
    isMisdirectionNoted = true;
    return false;
  };
  const sockets = new Set<Socket>();
  const server = createServer(
    { requireHostHeader: false, requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => {
      void requests.track(new Promise(resolve => response.once('close', resolve)));
      // An answer that was on its way when the closing began leaves its connection open.
      response.once('close', () => {
        if (options.closing.aborted) setImmediate(() => server.closeIdleConnections());
      });
      void answer(options, request, response, {
        budget,
        origin: originFor(options, ownOrigin, request),
        isOurs: checkHost(request.headers.host),
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.once('listening', () => {
    ownOrigin = originOf(server, options.host);
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

/** Such as `http://127.0.0.1:8787`. */
export function originOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${inUrl(host)}:${port}`;
}

/** What media URLs begin with in the answer to a request. */
function originFor(
  { host, publicUrl }: HttpServerOptions,
  ownOrigin: string,
  request: IncomingMessage,
): string {
  const called = request.headers.host;
  // A wildcard address leads nowhere from another machine: there it is the one the caller used.
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
  const readBody = (memory: RequestMemory): Promise<Buffer> => bodyOf(request, memory);
  const result = isOurs ? await api({ method, target, headers, origin, memoryFor, readBody }) : misdirected();
  room?.free();
  if (closing.aborted) {
    response.setHeader('connection', 'close');
    await readAway(request);
  }
  cutOffStalled(response, stalledMs);
  await send(response, result, method === 'HEAD').catch(() => response.destroy());
  onRequest?.({
    user: result.user,
    method,
    path: target.split('?', 1)[0] ?? '',
    httpStatus: result.httpStatus,
    durationMs: performance.now() - startedAt,
    route: result.route,
    traceparent: traceparentOf(headers[TRACEPARENT_HEADER]),
  });
}

/** Reads the rest of a request: if the connection were closed while its caller still sends, the answer would be lost. */
async function readAway(request: IncomingMessage): Promise<void> {
  if (request.complete || request.closed) return;
  request.resume();
  await once(request, 'close').catch(() => {});
}

/** A caller who takes nothing of an answer for so long gets no more of it. */
function cutOffStalled(response: ServerResponse, stalledMs: number): void {
  response.setTimeout(stalledMs);
  // Where the next request is here already, Node leaves the time on, and its answer may take longer to make. Before
  // Node's own listener, which sets the time of a connection that waits for a next request.
  response.prependOnceListener('finish', () => response.setTimeout(0));
}

async function send(response: ServerResponse, { httpStatus, headers, body }: ApiAnswer, bare: boolean) {
  if (typeof body === 'string') {
    response.writeHead(httpStatus, { ...headers, 'content-length': Buffer.byteLength(body) });
    response.end(bare ? undefined : body);
    return;
  }
  response.writeHead(httpStatus, headers);
  if (!bare) return await pipeline(body, response);
  body.destroy();
  response.end();
}

function misdirected(): ApiAnswer {
  const refusal = new ApiError('MISDIRECTED_REQUEST_ERROR', 'the Host header does not name this service');
  return answerError(refusal, () => {});
}

/** What is too large is left unread: Node reads it away, so that the answer reaches a caller that goes on sending. */
function bodyOf(request: IncomingMessage, memory: RequestMemory): Promise<Buffer> {
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

/** Resolves once the server takes connections. Throws ListenError. */
export async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    const reason = LISTEN_FAULTS[codeOf(error) ?? ''] ?? messageOf(error);
    throw new ListenError(`can't listen on ${inUrl(host)}:${port}: ${reason}`, { cause: error });
  }
}

const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; choose another one with --port, or 0 for any free one',
  EACCES: 'that port is not allowed; choose one above 1023 with --port',
  EADDRNOTAVAIL: 'this machine has no such address; check --host',
  ENOTFOUND: 'this machine has no such address; check --host',
};
