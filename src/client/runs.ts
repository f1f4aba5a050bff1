import {
  type CreateRunRequest,
  MAX_LIST_LIMIT,
  type Run,
  type RunListQuery,
  type RunPage,
  type RunRow,
} from '../wire/index.ts';
import { Circle } from './circle.ts';
import { path } from './path.ts';
import type { Requester, RequestOptions } from './request.ts';
import { listOf, payload, strings } from './shape.ts';
import type { RequestBody } from './transport.ts';

/** A creation whose JSON is produced while it is sent. */
export interface EncodedBody {
  readonly promptVersionId: string;
  readonly body: RequestBody;
}

export type CreateOptions = Pick<
  RequestOptions,
  'signal' | 'timeoutMs' | 'onSent' | 'onRetry' | 'retries' | 'idempotencyKey'
>;
export type ReadOptions = Pick<RequestOptions, 'signal' | 'timeoutMs' | 'retries'>;

/** A run list query whose `limit` is the number of rows wanted in all: any number, or undefined for every row. */
export type RunPagesQuery = RunListQuery;

/** Runs of the caller (interface §4.1 to §4.3). */
export class Runs {
  readonly #service: Requester;

  constructor(service: Requester) {
    this.#service = service;
  }

  /**
   * Creates a run and waits up to two minutes for it (interface §4.2). Sent again only on 429 and where the connection
   * was refused; what else fails may have made a run (`answerIsLost`), with or without an `idempotencyKey`.
   *
   * @throws {GatewayTimeoutError} with the run's id, where it takes longer; go on with `waitForRun`
   */
  async create(request: CreateRunRequest | EncodedBody, options: CreateOptions = {}): Promise<Run> {
    const body = 'body' in request ? request.body : request;
    return payload(await this.#service.request<Run>('POST', '/runs', { ...options, body }), 'run', runFault);
  }

  /** One run (interface §4.3). */
  async get(runId: string, options: ReadOptions = {}): Promise<Run> {
    return payload(await this.#service.request<Run>('GET', path`/runs/${runId}`, options), 'run', runFault);
  }

  /** One page of runs, newest first (interface §4.1). */
  async list(query: RunListQuery = {}, options: ReadOptions = {}): Promise<RunPage> {
    const answer = await this.#service.request<RunPage>('GET', '/runs', { ...options, query: { ...query } });
    return payload(answer, 'page of runs', pageFault);
  }

  /**
   * Pages as they arrive. Forwards, each page is older than the one before; with `endingBefore` each is newer, and
   * the rows of a page are newest first all the same.
   */
  async *pages(query: RunPagesQuery = {}, options: ReadOptions = {}): AsyncGenerator<RunPage> {
    const backwards = query.endingBefore !== undefined;
    let wanted = query.limit ?? Number.POSITIVE_INFINITY;
    let cursor = backwards ? query.endingBefore : query.startingAfter;
    const circle = new Circle();
    if (cursor !== undefined) circle.pass(cursor);
    while (wanted > 0) {
      const at = cursor === undefined ? {} : { [backwards ? 'endingBefore' : 'startingAfter']: cursor };
      const page = await this.list({ ...query, ...at, limit: Math.min(wanted, MAX_LIST_LIMIT) }, options);
      const { rows } = page;
      // A service may send more than it was asked for; the rows next to the cursor are the ones wanted.
      yield rows.length <= wanted
        ? page
        : { ...page, rows: backwards ? rows.slice(-wanted) : rows.slice(0, wanted) };
      wanted -= rows.length;
      const next = (backwards ? page.rows[0] : page.rows.at(-1))?.runId;
      if (!page.hasMore || next === undefined) return;
      circle.pass(next);
      cursor = next;
    }
  }

  /**
   * Every run that fits, newest first, holding one page at a time. With `endingBefore` the newest come last from the
   * service, so all that fit are held until then.
   */
  async *all(query: RunPagesQuery = {}, options: ReadOptions = {}): AsyncGenerator<RunRow> {
    if (query.endingBefore === undefined) {
      for await (const page of this.pages(query, options)) yield* page.rows;
      return;
    }
    const pages: RunRow[][] = [];
    for await (const page of this.pages(query, options)) pages.push(page.rows);
    for (const rows of pages.reverse()) yield* rows;
  }
}

function runFault(data: Readonly<Record<string, unknown>>): string | undefined {
  return strings(data, 'runId', 'runStatus') ?? listOf(data, 'outputs', output => strings(output, 'type'));
}

function pageFault(data: Readonly<Record<string, unknown>>): string | undefined {
  return listOf(data, 'rows', row => strings(row, 'runId', 'runStatus'));
}
