import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { InvalidRequestError, ValidationError } from '../../../src/client/errors.ts';
import type { EncodedBody } from '../../../src/client/nouns/runs.ts';
import { getRejection, TestClient } from '../../support/client.ts';
import { isPosix } from '../../support/system.ts';

const MIB = 1024 * 1024;
const run = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };

let server: Server;
let client: TestClient;

async function startServer(
  serve: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<void> {
  server = createServer(serve);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  client = new TestClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});

function answer(
  response: ServerResponse,
  status: number,
  envelope: object,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(envelope));
}

/** Returns a body of so many bytes, made piece by piece. */
function createBody(
  pieces: number,
  pieceBytes: number,
  onPiece: (nth: number) => void = () => {},
): EncodedBody {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let nth = 0; nth < pieces; nth++) {
      onPiece(nth);
      yield Buffer.alloc(pieceBytes, 97);
    }
  }
  return { promptVersionId: 'v', body: { length: pieces * pieceBytes, chunks } };
}

/** Returns the value after the client has had some turns. */
async function delayByTurns<T>(value: T): Promise<T> {
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve));
  return value;
}

describe('a streamed creation', () => {
  it('announces its length, and keeps only one piece in memory', async () => {
    let receivedBytes = 0;
    let maxBytesAhead = 0;

    let headers: IncomingMessage['headers'] = {};
    await startServer((request, response) => {
      headers = request.headers;
      request.on('data', (piece: Buffer) => {
        receivedBytes += piece.byteLength;
      });
      request.on('end', () => answer(response, 200, { status: 'SUCCESS', data: run }));
    });

    const measure = (nth: number): void => {
      maxBytesAhead = Math.max(maxBytesAhead, nth * MIB - receivedBytes);
    };

    await client.runs.create(createBody(64, MIB, measure));
    expect(headers).toMatchObject({ 'content-length': String(64 * MIB) });
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(receivedBytes).toBe(64 * MIB);
    expect(maxBytesAhead).toBeLessThan(24 * MIB);
  });

  it('arrives unchanged, although its pieces share their memory and the server is slower', async () => {
    const sizes = Array.from({ length: 60 }, (_, nth) => [MIB, 9000, 70_000, 1][nth % 4] ?? 0);
    const memory = Buffer.alloc(MIB);
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (const [nth, size] of sizes.entries()) yield memory.fill(nth).subarray(0, size);
    }

    const received: Buffer[] = [];
    await startServer(async (request, response) => {
      for await (const piece of request as AsyncIterable<Buffer>) {
        received.push(await delayByTurns(piece));
      }
      answer(response, 200, { status: 'SUCCESS', data: run });
    });

    const length = sizes.reduce((sum, size) => sum + size);
    await client.runs.create({ promptVersionId: 'v', body: { length, chunks } });
    const expected = Buffer.concat(sizes.map((size, nth) => Buffer.alloc(size, nth)));

    expect(Buffer.concat(received).equals(expected)).toBe(true);
  });

  it('is answered before it is sent completely', async () => {
    await startServer((_, response) => {
      answer(response, 413, {
        status: 'PAYLOAD_TOO_LARGE_ERROR',
        message: 'too large',
        data: null,
      });
    });
    const error = await getRejection(client.runs.create(createBody(64, MIB)), ValidationError);
    expect(error.httpStatus).toBe(413);
  });

  // A reset makes Windows drop what has arrived and was not read yet.
  it.runIf(isPosix)(
    'is answered before it is sent completely, over a connection that then closes',
    async () => {
      await startServer((request, response) => {
        answer(
          response,
          401,
          { status: 'UNAUTHORIZED_ERROR', message: 'x', data: null },
          { connection: 'close' },
        );
        response.on('finish', () => request.socket.destroySoon());
      });
      const error = await getRejection(client.runs.create(createBody(8, MIB)), Error);
      expect(error).toMatchObject({ status: 'UNAUTHORIZED_ERROR' });
    },
  );

  it('ends in the fault of its own source', async () => {
    await startServer(request => request.resume());
    const fault = new Error('the file is gone');
    const failing = createBody(4, MIB, nth => {
      if (nth === 2) throw fault;
    });
    await expect(client.runs.create(failing)).rejects.toBe(fault);
    expect(client.slept).toEqual([]);
  });

  it.each([2, 4])(
    'of another length than announced is never accepted (%i pieces of 3)',
    async pieces => {
      let wasReceivedWhole = false;
      await startServer((request, response) => {
        request.resume();
        request.on('end', () => {
          wasReceivedWhole = true;
          answer(response, 200, { status: 'SUCCESS', data: run });
        });
        request.on('error', () => {});
      });

      const creation = createBody(pieces, 1000);
      const creationOfWrongLength = { ...creation, body: { ...creation.body, length: 3000 } };
      await getRejection(client.runs.create(creationOfWrongLength), InvalidRequestError);

      expect(wasReceivedWhole).toBe(false);
    },
  );

  it('is aborted half-way, and its source is closed', async () => {
    await startServer(() => {});
    const controller = new AbortController();

    const reason = new Error('enough');
    let isSourceClosed = false;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      try {
        for (let nth = 0; ; nth++) {
          if (nth === 3) controller.abort(reason);
          yield Buffer.alloc(MIB);
        }
      } finally {
        isSourceClosed = true;
      }
    }

    const endless = { promptVersionId: 'v', body: { length: 64 * MIB, chunks } };
    await expect(client.runs.create(endless, { signal: controller.signal })).rejects.toBe(reason);
    await expect.poll(() => isSourceClosed).toBe(true);
  });

  it('reports that it is about to be sent', async () => {
    await startServer((request, response) => {
      request.resume();
      request.on('end', () => answer(response, 200, { status: 'SUCCESS', data: run }));
    });
    let sentCount = 0;
    await client.runs.create(createBody(1, 10), { onSent: () => sentCount++ });
    expect(sentCount).toBe(1);
  });
});
