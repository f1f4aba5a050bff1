import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, answerError, badRequest, notFound } from './api-error.ts';
import type { ApiAnswer } from './route.ts';

/** Puts what Node's own HTTP server refuses into the envelope. */
export function envelopeRefusals(server: Server): void {
  server.on('clientError', answerMalformed);
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    refuse(socket, notFound('there is no such route')),
  );
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { httpStatus, headers, body } = closing(badRequest('the Expect header asks for something unknown'));
    response.writeHead(httpStatus, headers).end(body);
  });
}

/** Answers a request that could not be read. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  refuse(socket, refusalOf(error));
}

function refusalOf(error: NodeJS.ErrnoException): ApiError {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError('HEADERS_TOO_LARGE_ERROR', 'the request line and headers are too large');
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return badRequest('the request did not arrive in time');
  return badRequest('the request is not valid HTTP');
}

function refuse(socket: Duplex, refusal: ApiError): void {
  const { httpStatus, headers, body } = closing(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus] ?? ''}`;
  socket.end([statusLine, ...lines, '', body].join('\r\n'));
}

/** The answer after which the connection ends. */
function closing(refusal: ApiError): ApiAnswer & { body: string } {
  const { httpStatus, headers, body } = answerError(refusal, () => {});
  const text = body as string;
  const length = String(Buffer.byteLength(text));
  return { httpStatus, headers: { ...headers, 'content-length': length, connection: 'close' }, body: text };
}
