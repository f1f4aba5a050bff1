import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, badRequest, errorEnvelope, notFound } from './api-error.ts';

/** Puts what Node's own HTTP server refuses into the envelope. */
export function envelopeRefusals(server: Server): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    refuse(socket, notFound('no such route')),
  );
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = bodyOf(badRequest('the Expect header asks for something unknown'));
    response.writeHead(400, headersOf(body)).end(body);
  });
}

/** Answers a request that could not be read. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
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
  return badRequest('the request is no valid HTTP');
}

function refuse(socket: Duplex, refusal: ApiError): void {
  const body = bodyOf(refusal);
  const headers = Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${refusal.httpStatus} ${STATUS_CODES[refusal.httpStatus] ?? ''}`;
  socket.end([statusLine, ...headers, '', body].join('\r\n'));
}

function bodyOf({ status, message }: ApiError): string {
  return JSON.stringify(errorEnvelope(status, message));
}

function headersOf(body: string): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
}
