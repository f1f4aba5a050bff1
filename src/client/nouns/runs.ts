import type { UncheckedObject } from '../../utils/bounded-json.ts';
import type { CreateRunRequest, Run, RunListQuery, RunPage, RunRow } from '../../wire/index.ts';
import type { ReadOptions, RequestOptions } from '../request-options.ts';
import type { RequestBody } from '../transport.ts';
import { urlPath } from '../url-path.ts';
import { EndpointGroup, findListFault, findTextFault, withoutSavedTo } from './answer-data.ts';
import { iteratePages, iterateRows } from './paging.ts';

/** A creation whose JSON is produced while it is sent. */
export interface EncodedBody {
  readonly promptVersionId: string;
  readonly body: RequestBody;
}

export type CreateOptions = ReadOptions &
  Pick<RequestOptions, 'onSent' | 'onRetry' | 'idempotencyKey'>;

/**
 * A run list query whose `limit` counts the rows of all pages together; undefined lists every row.
 */
export type RunPagesQuery = RunListQuery;

/** Endpoints for the caller's runs. */
export class Runs extends EndpointGroup {
  /**
   * Creates a run; the service waits up to two minutes for it to end. Retried only after 429 and if
   * the connection was refused. After any other failure a run may exist (`answerIsLost`), with or
   * without an `idempotencyKey`.
   *
   * @throws {GatewayTimeoutError} with the run's id if the run takes longer; continue with
   * `waitForRun`
   */
  async create(request: CreateRunRequest | EncodedBody, options: CreateOptions = {}): Promise<Run> {
    const body = 'body' in request ? request.body : request;
    return withoutSavedTo(
      await this.read<Run>(['POST', '/runs'], { ...options, body }, 'run', findRunFault),
    );
  }

  /** Returns one run. @throws {ProtocolError} if the service answers with another one */
  async get(runId: string, options: ReadOptions = {}): Promise<Run> {
    const findFault = (data: UncheckedObject): string | undefined =>
      findRunFault(data) ??
      (String(data.runId).toLowerCase() === runId.toLowerCase()
        ? undefined
        : 'it has the id of another run');
    return withoutSavedTo(
      await this.read<Run>(['GET', urlPath`/runs/${runId}`], options, 'run', findFault),
    );
  }

  /** Returns the body that created a run. Only a local service keeps it; others answer 404. */
  async request(runId: string, options: ReadOptions = {}): Promise<CreateRunRequest> {
    const route = ['GET', urlPath`/runs/${runId}/request`] as const;
    return await this.read(route, options, 'creation', data =>
      findTextFault(data, 'promptVersionId'),
    );
  }

  /**
   * Cancels a run that has not ended, and returns the run. Only a local service can; others answer
   * 404.
   */
  async cancel(runId: string, options: ReadOptions = {}): Promise<Run> {
    const route = ['POST', urlPath`/runs/${runId}/cancel`] as const;
    return withoutSavedTo(await this.read<Run>(route, options, 'run', findRunFault));
  }

  /** Returns one page of runs, newest first. */
  async list(query: RunListQuery = {}, options: ReadOptions = {}): Promise<RunPage> {
    const request = { ...options, query: { ...query } };
    return await this.read(['GET', '/runs'], request, 'page of runs', data =>
      findListFault(data, 'rows', row => findTextFault(row, 'runId', 'runStatus')),
    );
  }

  /** Yields pages as they arrive; see `iteratePages` for their order. */
  pages(query: RunPagesQuery = {}, options: ReadOptions = {}): AsyncGenerator<RunPage> {
    const fetch = (page: RunListQuery): Promise<RunPage> => this.list(page, options);
    const rowCursor = ({ runId }: RunRow): string => runId;
    return iteratePages(
      { noun: 'runs', fetch, rowCursor, comparePeriod: row => comparePeriod(row, query) },
      query,
    );
  }

  /**
   * Yields every matching run, newest first, and holds one page at a time. With `endingBefore` the
   * service sends the newest runs last, so all runs are collected first.
   */
  all(query: RunPagesQuery = {}, options: ReadOptions = {}): AsyncGenerator<RunRow> {
    return iterateRows(this.pages(query, options), query);
  }
}

function comparePeriod(
  { createdAt }: RunRow,
  { since, until }: RunPagesQuery,
): 'before' | 'within' | 'after' {
  const seconds = Date.parse(createdAt) / 1000;
  if (since !== undefined && seconds < since) return 'before';
  return until !== undefined && seconds >= until ? 'after' : 'within';
}

function findRunFault(data: UncheckedObject): string | undefined {
  return (
    findTextFault(data, 'runId', 'runStatus') ??
    findListFault(data, 'outputs', output => findTextFault(output, 'type'))
  );
}
