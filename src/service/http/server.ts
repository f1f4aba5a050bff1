import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { parseTraceparent, TRACEPARENT_HEADER } from '../../wire/index.ts';
import { PendingWork } from '../core/background-work.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import type { Api } from './api.ts';
import { ApiError, createErrorAnswer } from './api-error.ts';
import { LIVENESS_PATH, READINESS_PATH } from './health-paths.ts';
import { createHostMatcher, isWildcardAddress } from './host-matcher.ts';
import { getServerOrigin } from './listen.ts';
import { MemoryBudget, type RequestReservation } from './memory-budget.ts';
import { answerRefusedRequests } from './refused-requests.ts';
import { discardRest, readRequestBody } from './request-body.ts';
import type { ApiAnswer } from './route.ts';
import { sendAnswer, setStallTimeout } from './send-answer.ts';

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
  /**
   * The time for which an answer waits for its caller to continue reading, in milliseconds; default
   * two minutes.
   */
  readonly stallTimeoutMs?: number | undefined;
}

export interface HttpServer {
  readonly server: Server;
  /** Closes connections that never sent a request. */
  readonly closeUnusedConnections: () => void;
  /** The requests whose headers have arrived and whose answers are not sent. */
  readonly requests: PendingWork;
}

/** Maximum time for a request to arrive, in milliseconds; its answer may take longer. */
const REQUEST_TIMEOUT_MS = 300_000;

/** The time for which an idle connection is kept, in milliseconds: longer than proxies do. */
const KEEP_ALIVE_MS = 72_000;
const STALL_TIMEOUT_MS = 120_000;

/** Maximum number of connections; a creation may hold one for two minutes. */
const MAX_HTTP_CONNECTIONS = 4096;

const MISDIRECTED_NOTICE =
  'a request named another host and was refused; start with --public-url if the service is reached under another name';

const HEALTH_PATHS: ReadonlySet<string> = new Set([LIVENESS_PATH, READINESS_PATH]);

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const requests = new PendingWork();
  const budget = new MemoryBudget(options.maxRequestBytes);
  const namesService = createHostCheck(options);

  // Remembered, because requests may still arrive after the server has stopped listening and lost
  // its address.
  let ownOrigin = '';
  const server = createServer(
    {
      requireHostHeader: false,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      void requests.track(new Promise(resolve => response.once('close', resolve)));
      // An answer that was in flight when closing began leaves its connection open.
      response.once('close', () => {
        if (options.closing.aborted) setImmediate(() => server.closeIdleConnections());
      });
      void answerRequest(options, request, response, {
        budget,
        origin: pickOrigin(options, ownOrigin, request),
        isMisdirected: !namesService(request),
      });
    },
  );
  server.maxConnections = MAX_HTTP_CONNECTIONS;
  server.once('listening', () => {
    ownOrigin = getServerOrigin(server, options.host);
  });
  answerRefusedRequests(server);

  return { server, requests, closeUnusedConnections: trackUnusedConnections(server) };
}

/**
 * Returns a check that a request names this service as its host. It reports the first request that
 * doesn't.
 */
function createHostCheck({
  host: listenHost,
  publicUrl,
  onNotice,
}: HttpServerOptions): (request: IncomingMessage) => boolean {
  const matchesHost = createHostMatcher(listenHost, publicUrl);
  let isReported = false;
  return ({ headers: { host }, url = '' }) => {
    // Load balancers may ask for health in HTTP/1.0, which needs no host; browsers always send one.
    if (matchesHost(host) || (host === undefined && HEALTH_PATHS.has(url))) return true;
    if (!isReported) onNotice?.(MISDIRECTED_NOTICE);
    isReported = true;
    return false;
  };
}

/**
 * Watches the connections of a server. Returns a function that closes those that never sent a
 * request.
 */
function trackUnusedConnections(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
}

/** Returns the beginning of media URLs in the answer to a request. */
function pickOrigin(
  { host, publicUrl }: HttpServerOptions,
  ownOrigin: string,
  request: IncomingMessage,
): string {
  const requestedHost = request.headers.host;
  // A wildcard address is useless on another machine, so the address that the caller used is taken.
  return (
    publicUrl ?? (isWildcardAddress(host) && requestedHost ? `http://${requestedHost}` : ownOrigin)
  );
}

interface AnswerContext {
  readonly budget: MemoryBudget;
  /** The beginning of media URLs in the answer. */
  readonly origin: string;
  /** True if the request names another host. */
  readonly isMisdirected: boolean;
}

async function answerRequest(
  { api, closing, onRequest, stallTimeoutMs = STALL_TIMEOUT_MS }: HttpServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  { budget, origin, isMisdirected }: AnswerContext,
): Promise<void> {
  const { method = '', url: target = '', headers } = request;
  const startedAt = performance.now();
  let reservation: RequestReservation | undefined;
  response.once('close', () => reservation?.close());

  const createReservation = (userId: number): RequestMemory => {
    reservation = budget.createReservation(userId);
    if (response.closed) reservation.close();
    return reservation;
  };

  const readBody = (memory: RequestMemory): Promise<Buffer> => readRequestBody(request, memory);
  const answer = isMisdirected
    ? createMisdirectedAnswer()
    : await api({ method, target, headers, origin, createReservation, readBody });
  reservation?.release();

  if (closing.aborted) {
    response.setHeader('connection', 'close');
    await discardRest(request);
  }

  setStallTimeout(response, stallTimeoutMs);
  await sendAnswer(response, answer, { isHead: method === 'HEAD' }).catch(() => response.destroy());
  onRequest?.({
    user: answer.user,
    method,
    path: target.split('?', 1)[0] ?? '',
    httpStatus: answer.httpStatus,
    durationMs: performance.now() - startedAt,
    route: answer.route,
    traceparent: parseTraceparent(headers[TRACEPARENT_HEADER]),
  });
}

function createMisdirectedAnswer(): ApiAnswer {
  const refusal = new ApiError(
    'MISDIRECTED_REQUEST_ERROR',
    'the Host header does not name this service',
  );
  return createErrorAnswer(refusal, () => {});
}
