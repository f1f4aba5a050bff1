import type { ServerResponse } from 'node:http';
import { findBatchRefusal, readBatchLines } from './batches.ts';
import type { ChatDialect } from './chat-dialects.ts';
import type { ProviderHandler, ProviderRequest } from './fake-provider.ts';

interface Entry {
  readonly custom_id: string;
  readonly parameters: Record<string, unknown>;
}

interface LedgerBatch {
  readonly id: string;
  readonly entries: readonly Entry[];
  readonly metadata: object;
  looks: number;
  cancelled: boolean;
}

/** The verdict on a request: its text, or the reason why it has none. */
export type Verdict = { readonly text: string } | 'expired' | 'refused' | 'missing';

/**
 * The point where a request is stopped: before it is carried out, after it, or in the middle of its
 * answer.
 */
export type StopPoint = 'before' | 'after' | 'within';

/**
 * The batches of OpenAI's and Anthropic's interface, with a ledger of what was uploaded and of what
 * was created. A batch has ended once it was looked at, alone or in a list, `looksToEnd` times.
 * Answers come in reverse order, with a stranger and a double among them.
 */
export class ProviderLedger {
  readonly files: Entry[][] = [];
  readonly batches: LedgerBatch[] = [];
  looksToEnd = 1;
  /**
   * Requests by method and path that get no answer: the connection is closed after they were
   * carried out.
   */
  unanswered: RegExp | undefined;
  /** Answers in place of those that would come, by method and path. */
  readonly refusals: { readonly at: RegExp; readonly status: number; readonly headers?: object }[] =
    [];
  #stop:
    | { readonly at: RegExp; readonly point: StopPoint; readonly onStop: () => void }
    | undefined;
  resultsAreGone = false;
  /** Whose Chat Completions the lines of its batches have. */
  dialect: ChatDialect = 'local';
  verdict: (entry: Entry) => Verdict = ({ parameters }) => ({
    text: JSON.stringify(parameters['messages']),
  });

  /**
   * Resolves once a request by this method and path came and was stopped; it is never answered to
   * its end.
   */
  stopAt(at: RegExp, point: StopPoint): Promise<void> {
    return new Promise(resolve => {
      this.#stop = { at, point, onStop: resolve };
    });
  }

  /** The cost of all batches so far at half of 2 and 8 dollars a million tokens, in dollars. */
  get bill(): number {
    const answers = this.batches.flatMap(({ entries }) =>
      entries.map(entry => this.verdict(entry)),
    );
    return (answers.filter(verdict => typeof verdict === 'object').length * 14) / 10_000;
  }

  readonly handler: ProviderHandler = (response, request) => {
    const place = `${request.method} ${request.path}`;
    const refused = this.refusals.findIndex(({ at }) => at.test(place));
    if (refused >= 0) {
      const [{ status, headers } = { status: 500 }] = this.refusals.splice(refused, 1);
      return void response
        .writeHead(status, { ...headers })
        .end('{"error":{"message":"not now, k-secret-12345"}}');
    }

    if (this.resultsAreGone && request.path.includes('/files/')) {
      return void response.writeHead(410).end('{}');
    }

    const wrong = findBatchRefusal(request, this.dialect);
    if (wrong) {
      return void response
        .writeHead(wrong.status ?? 400, { 'content-type': 'application/json' })
        .end(JSON.stringify(wrong.body));
    }

    const stop = this.#stop?.at.test(place) ? this.#stop : undefined;
    if (stop) this.#stop = undefined;
    if (stop?.point === 'before') return stop.onStop();

    const answer = this.#answer(request);
    if (stop?.point === 'within' && typeof answer === 'string') {
      response.writeHead(200, { 'content-type': 'application/x-jsonl' });
      response.write(answer.slice(0, answer.indexOf('\n', answer.length / 2) + 1));
    }

    if (stop) return stop.onStop();

    if (this.unanswered?.test(place)) {
      this.unanswered = undefined;
      return void response.destroy();
    }

    return send(response, answer);
  };

  #answer({ method, path, text }: ProviderRequest): object | string | undefined {
    const [, id = ''] = /batches\/([\w-]+)/.exec(path) ?? [];
    const batch = this.batches.find(one => one.id === id);
    const isAnthropic = path.includes('/messages/batches');
    if (method === 'POST' && path.endsWith('/files')) return this.#upload(text);

    if (method === 'GET' && path.includes('/files/')) {
      return this.#results(findBatchOfFile(this.batches, path), false);
    }

    if (method === 'POST' && path.endsWith('/cancel') && batch) {
      batch.cancelled = true;
      return this.#shown(batch, isAnthropic);
    }

    if (method === 'POST' && path.endsWith('/batches')) {
      return this.#shown(this.#create(text, isAnthropic), isAnthropic);
    }

    if (path.endsWith('/results')) return this.#results(batch, true);

    if (batch) {
      batch.looks += 1;
      return this.#shown(batch, isAnthropic);
    }

    if (id !== '') return undefined;

    for (const one of this.batches) one.looks += 1;
    const data = this.batches.map(one => this.#shown(one, isAnthropic)).reverse();
    return { data, has_more: false, first_id: null, last_id: null, object: 'list' };
  }

  #upload(text: string): object {
    this.files.push(
      readBatchLines(text).map(({ custom_id, body }) => ({ custom_id, parameters: body })),
    );
    return { id: `file-${this.files.length}`, object: 'file', purpose: 'batch' };
  }

  #create(text: string, isAnthropic: boolean): LedgerBatch {
    const body = JSON.parse(text) as {
      input_file_id?: string;
      metadata?: object;
      requests?: { custom_id: string; params: Record<string, unknown> }[];
    };
    const entries = isAnthropic
      ? (body.requests ?? []).map(({ custom_id, params }) => ({ custom_id, parameters: params }))
      : (this.files[Number(body.input_file_id?.slice('file-'.length)) - 1] ?? []);
    const made = {
      id: `batch_${this.batches.length + 1}`,
      entries,
      metadata: body.metadata ?? {},
      looks: 0,
      cancelled: false,
    };
    this.batches.push(made);

    return made;
  }

  #shown({ id, entries, metadata, looks, cancelled }: LedgerBatch, isAnthropic: boolean): object {
    const ended = looks >= this.looksToEnd || cancelled;
    const verdicts = entries.map(entry => this.verdict(entry));

    const succeeded = verdicts.filter(verdict => typeof verdict === 'object').length;
    if (isAnthropic) {
      const counts = { succeeded, errored: 0, canceled: 0, expired: entries.length - succeeded };
      return {
        id,
        type: 'message_batch',
        processing_status: ended ? 'ended' : 'in_progress',
        request_counts: ended
          ? { processing: 0, ...counts }
          : { processing: entries.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
        results_url:
          ended && !this.resultsAreGone ? `${this.origin}/v1/messages/batches/${id}/results` : null,
        archived_at: this.resultsAreGone ? '2026-10-01T00:00:00Z' : null,
      };
    }

    const endStatus = cancelled ? 'cancelled' : 'completed';
    return {
      id,
      object: 'batch',
      status: ended ? endStatus : 'in_progress',
      metadata,
      request_counts: {
        total: entries.length,
        completed: ended ? succeeded : 0,
        failed: ended ? entries.length - succeeded : 0,
      },
      output_file_id: ended ? `out-${id}` : null,
      error_file_id: null,
    };
  }

  origin = '';

  #results(batch: LedgerBatch | undefined, isAnthropic: boolean): string | undefined {
    if (!batch) return undefined;

    const lines = batch.entries.toReversed().flatMap(entry => {
      const verdict = this.verdict(entry);
      if (verdict === 'missing') return [];
      return [
        {
          custom_id: entry.custom_id,
          ...(isAnthropic ? messageResult(verdict) : chatResult(verdict)),
        },
      ];
    });
    const [first] = lines;
    const all = [...lines, ...(first ? [first] : []), { ...first, custom_id: 'a-stranger' }];
    return all.map(line => `${JSON.stringify(line)}\n`).join('');
  }
}

function findBatchOfFile(batches: readonly LedgerBatch[], path: string): LedgerBatch | undefined {
  return batches.find(({ id }) => path.includes(`out-${id}`));
}

const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };

function chatResult(verdict: Exclude<Verdict, 'missing'>): object {
  if (typeof verdict !== 'object') {
    const expired = {
      code: 'batch_expired',
      message: 'This request could not be executed before the completion window expired.',
    };
    return verdict === 'expired'
      ? { response: null, error: expired }
      : { response: { status_code: 400, body: { error: { message: 'bad field' } } }, error: null };
  }
  const message = { role: 'assistant', content: verdict.text };
  return {
    response: {
      status_code: 200,
      body: { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE },
    },
    error: null,
  };
}

function messageResult(verdict: Exclude<Verdict, 'missing'>): object {
  if (verdict === 'expired') return { result: { type: 'expired' } };

  if (verdict === 'refused') {
    return {
      result: {
        type: 'errored',
        error: { type: 'error', error: { type: 'invalid_request', message: 'bad field' } },
      },
    };
  }

  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: verdict.text }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1000, output_tokens: 100 },
  };
  return { result: { type: 'succeeded', message } };
}

function send(response: ServerResponse, answer: object | string | undefined): void {
  if (answer === undefined) {
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"error":{"message":"gone"}}');
  } else if (typeof answer === 'string') {
    response.writeHead(200, { 'content-type': 'application/x-jsonl' }).end(answer);
  } else {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }
}
