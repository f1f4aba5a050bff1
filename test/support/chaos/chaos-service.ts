import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** The ways in which a service misbehaves; shares are of all creations. */
export interface ChaosOptions {
  readonly seed: number;
  /** True if idempotency keys are kept, and announced. */
  readonly idempotency: boolean;
  /** The number of runs that somebody else with the same key makes for each of this test's. */
  readonly others: number;
  /** The time for which a new run is missing, both in lists and by its id, in milliseconds. */
  readonly lagMs: number;
  /** The milliseconds by which the service's clock is ahead. */
  readonly skewMs: number;
  /** The number of creations after which the service dies, again and again; 0 for never. */
  readonly diesEvery: number;
}

/** A run that was made and paid for. */
export interface LedgerRun {
  readonly runId: string;
  /** The row that it was created from; undefined for somebody else's. */
  readonly name: string | undefined;
  readonly key: string | undefined;
  readonly createdAt: number;
  /** The time at which it is done, by the machine's clock. */
  readonly doneAt: number;
}

export const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const ANSWER_MS = 5;
const DEAD_MS = 300;

type Fault =
  | 'reset before'
  | 'reset after'
  | '500'
  | '502 before'
  | '502 after'
  | '504 without id'
  | '504';

/** The faults of creations with their probabilities. */
const FAULTS: readonly (readonly [Fault, number])[] = [
  ['reset before', 0.03],
  ['reset after', 0.03],
  ['500', 0.02],
  ['502 before', 0.02],
  ['502 after', 0.02],
  ['504 without id', 0.02],
  ['504', 0.04],
];

/**
 * A service that knows every creation, and misbehaves by a seed. It survives its own death, as its
 * store would.
 */
export class ChaosService {
  readonly ledger: LedgerRun[] = [];
  readonly #options: ChaosOptions;
  readonly #random: () => number;
  readonly #sockets = new Set<Socket>();
  readonly #byId = new Map<string, LedgerRun>();
  readonly #byKey = new Map<string, LedgerRun>();
  #server: Server | undefined;
  #port = 0;
  /** Creations sent so far, those sent again included. */
  creations = 0;
  /** Requests for lists so far. */
  lists = 0;

  constructor(options: ChaosOptions) {
    this.#options = options;
    this.#random = createRandom(options.seed);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/v1`;
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      this.#serve(request, response).catch(() => {}); // the client was killed
    });
    server.on('connection', socket => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {});
    });
    await new Promise<void>(resolve => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  close(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #die(): void {
    this.close();
    setTimeout(() => void this.listen(), DEAD_MS);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const url = new URL(request.url ?? '/', this.url);
    const text = await readBody(request);
    await new Promise(resolve => setTimeout(resolve, ANSWER_MS));
    const place = url.pathname.replace('/v1', '');
    if (request.method === 'POST') return this.#create(request, response, text);
    if (place === '/runs') return this.#list(response, url.searchParams);
    if (place.startsWith('/runs/')) return this.#get(response, place.slice('/runs/'.length));

    return this.#answer(response, 200, {
      status: 'SUCCESS',
      data: {
        promptVersionId: VERSION,
        promptId: VERSION,
        title: 't',
        publishedAt: '',
        config: {},
      },
    });
  }

  #create(request: IncomingMessage, response: ServerResponse, text: string): void {
    this.creations += 1;
    const { diesEvery, others } = this.#options;
    const fault = this.#fault();
    const key = String(request.headers['idempotency-key']);
    const known = this.#options.idempotency ? this.#byKey.get(key) : undefined;
    if (fault === 'reset before') return reset(response);
    if (fault === '502 before') return answerBadGateway(response);

    const { inputs } = JSON.parse(text) as { inputs: { textInputs: { name: string } } };
    const run = known ?? this.#made(inputs.textInputs.name, key, fault === '504');
    if (this.#random() < others) this.#made(undefined, undefined, false);
    if (diesEvery > 0 && this.creations % diesEvery === 0) return this.#die();

    switch (fault) {
      case 'reset after':
        return reset(response);
      case '500':
        return this.#answer(response, 500, {
          status: 'SERVER_ERROR',
          message: 'oh no',
          data: null,
        });
      case '502 after':
        return answerBadGateway(response);
      case '504 without id':
        return this.#answer(response, 504, {
          status: 'GATEWAY_TIMEOUT_ERROR',
          message: 'late',
          data: null,
        });
      case '504':
        return this.#answer(response, 504, {
          status: 'GATEWAY_TIMEOUT_ERROR',
          message: 'still running',
          data: { runId: run.runId },
        });
      case undefined:
      default:
        return this.#answer(response, 200, { status: 'SUCCESS', data: runData(run) });
    }
  }

  #fault(): Fault | undefined {
    let roll = this.#random();
    for (const [fault, share] of FAULTS) {
      roll -= share;
      if (roll < 0) return fault;
    }
    return undefined;
  }

  #made(name: string | undefined, key: string | undefined, isLong: boolean): LedgerRun {
    const createdAt = Date.now();
    const run = {
      runId: randomUUID(),
      name,
      key,
      createdAt,
      doneAt: createdAt + (isLong ? 500 : 0),
    };
    this.ledger.push(run);
    this.#byId.set(run.runId, run);
    if (key !== undefined) this.#byKey.set(key, run);

    return run;
  }

  #get(response: ServerResponse, runId: string): void {
    const run = this.#byId.get(runId);
    if (run === undefined || this.#isHidden(run)) {
      return this.#answer(response, 404, {
        status: 'NOT_FOUND_ERROR',
        message: 'no such run',
        data: null,
      });
    }
    return this.#answer(response, 200, { status: 'SUCCESS', data: runData(run) });
  }

  #isHidden({ createdAt }: LedgerRun): boolean {
    return Date.now() - createdAt < this.#options.lagMs;
  }

  #list(response: ServerResponse, query: URLSearchParams): void {
    this.lists += 1;
    const after = query.get('startingAfter');
    const limit = Number(query.get('limit') ?? 10);
    const fitting = this.ledger
      .filter(run => !this.#isHidden(run) && this.#isWithin(run, query))
      .reverse();
    const start = after === null ? 0 : fitting.findIndex(({ runId }) => runId === after) + 1;
    const rows = fitting.slice(start, start + limit).map(run => ({
      ...runData(run),
      promptVersionId: VERSION,
      credits: 1,
      runName: '',
      createdAt: new Date(run.createdAt + this.#options.skewMs).toISOString(),
    }));

    const hasMore = fitting.length > start + limit;
    this.#answer(response, 200, { status: 'SUCCESS', data: { rows, hasMore } });
  }

  #isWithin({ createdAt }: LedgerRun, query: URLSearchParams): boolean {
    const second = Math.floor((createdAt + this.#options.skewMs) / 1000);
    return (
      second >= Number(query.get('since') ?? 0) && second < Number(query.get('until') ?? Infinity)
    );
  }

  #answer(response: ServerResponse, status: number, body: object): void {
    response.writeHead(status, {
      'content-type': 'application/json',
      date: new Date(Date.now() + this.#options.skewMs).toUTCString(),
      ...(this.#options.idempotency && { idempotency: 'supported' }),
    });
    response.end(JSON.stringify(body));
  }
}

function runData({ runId, name, doneAt }: LedgerRun): object {
  const isDone = Date.now() >= doneAt;
  return {
    runId,
    runStatus: isDone ? 'succeeded' : 'running',
    outputs: isDone ? [{ type: 'text', data: `Hello, ${name ?? 'somebody else'}!` }] : [],
    tokens: isDone ? 1 : 0,
  };
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

function answerBadGateway(response: ServerResponse): void {
  response.writeHead(502, { 'content-type': 'text/html' });
  response.end('<html>bad gateway</html>');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

/** Numbers from 0 up to 1 that a seed decides. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
