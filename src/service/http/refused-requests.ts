import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, badRequest, createErrorAnswer } from './api-error.ts';
import type { ApiAnswer } from './route.ts';

/** Maximum time for a refused caller to read the answer and close, in milliseconds. */
const LINGER_MS = 5000;

/** The last request that was read from a connection. */
interface LastRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The previous answer: answers are sent in the order of requests. */
  readonly previous: ServerResponse | undefined;
}

/** Puts refusals of Node's own HTTP server into the envelope. */
export function answerRefusedRequests(server: Server, lingerMs = LINGER_MS): void {
  const lastRequests = new WeakMap<Duplex, LastRequest>();
  const refusedSockets = new WeakSet<Duplex>();
  const refuseOnce = (socket: Duplex, refusal: ApiError): void => {
    // Further data of a refused connection is discarded.
    if (refusedSockets.has(socket)) return;
    refusedSockets.add(socket);
    void answerRefused(socket, refusal, lastRequests.get(socket), lingerMs);
  };

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    lastRequests.set(socket, { request, response, previous: lastRequests.get(socket)?.response });
  });

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
    } else {
      refuseOnce(socket, toRequestError(error));
    }
  });

  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {}).resume();
    refuseOnce(socket, new ApiError('NOT_FOUND_ERROR', 'the route does not exist'));
  });

  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { httpStatus, headers, body } = buildClosingAnswer(
      badRequest('the Expect header has an unknown value'),
    );
    response.writeHead(httpStatus, headers).end(body);
  });
}

/**
 * Answers a refused request after the requests before it have been answered. The connection is
 * first closed only for writing: closing it entirely while the caller still sends would reset it
 * and lose the answer.
 */
async function answerRefused(
  socket: Duplex,
  refusal: ApiError,
  lastRequest: LastRequest | undefined,
  lingerMs: number,
): Promise<void> {
  const isIncomplete = lastRequest?.request.complete === false;
  await waitForClose(isIncomplete ? lastRequest.previous : lastRequest?.response);
  if (!isIncomplete || !lastRequest.response.headersSent) socket.write(formatHttpAnswer(refusal));
  socket.end();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

async function waitForClose(response: ServerResponse | undefined): Promise<void> {
  if (response && !response.closed) await once(response, 'close').catch(() => {});
}

function toRequestError(error: NodeJS.ErrnoException): ApiError {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError('HEADERS_TOO_LARGE_ERROR', 'the request line and headers are too large');
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return badRequest('the request did not arrive in time');
  }
  return badRequest('the request is not valid HTTP');
}

/** Returns the whole answer, with its status line and headers, as HTTP/1.1 sends it. */
function formatHttpAnswer(refusal: ApiError): string {
  const { httpStatus, headers, body } = buildClosingAnswer(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus] ?? ''}`;
  return [statusLine, ...lines, '', body].join('\r\n');
}

/** Returns the answer that closes the connection. */
function buildClosingAnswer(refusal: ApiError): ApiAnswer & { body: string } {
  const { httpStatus, headers, body } = createErrorAnswer(refusal, () => {});
  const text = body as string;
  const length = String(Buffer.byteLength(text));

  return {
    httpStatus,
    headers: { ...headers, 'content-length': length, connection: 'close' },
    body: text,
  };
}
