import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChatDialect } from './chat-dialects.ts';
import { findRealRefusal } from './real-refusal.ts';

/** A request that a provider received. */
export interface ProviderRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Writes an answer by itself. */
export type ProviderHandler = (response: ServerResponse, request: ProviderRequest) => void;

/** The answer to a request: a value is sent as JSON, a text or bytes unchanged. */
export interface ProviderAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * A provider of models on this machine. It refuses what the real service refuses, in its words; to
 * everything else it gives the answers of the test. It keeps what it was asked.
 */
export class FakeProvider {
  readonly requests: ProviderRequest[] = [];
  /** Each answers one request in turn; the last answers all that follow. */
  answers: (ProviderAnswer | ProviderHandler)[] = [];

  /** Whose Chat Completions it speaks. */
  dialect: ChatDialect;

  private constructor(
    private readonly server: Server,
    dialect: ChatDialect,
  ) {
    this.dialect = dialect;
  }

  static async start(dialect: ChatDialect = 'local'): Promise<FakeProvider> {
    const server = createServer();
    const provider = new FakeProvider(server, dialect);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        provider.answer(
          { method, path, headers, text: Buffer.concat(chunks).toString() },
          response,
        );
      });
    });

    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return provider;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Returns the body of a request, as JSON. */
  body(index = 0): Record<string, unknown> {
    return JSON.parse(this.requests[index]?.text ?? 'null') as Record<string, unknown>;
  }

  reset(...answers: (ProviderAnswer | ProviderHandler)[]): void {
    this.requests.length = 0;
    this.answers = answers;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(resolve => this.server.close(resolve));
  }

  private answer(request: ProviderRequest, response: ServerResponse): void {
    this.requests.push(request);
    const answer = findRealRefusal(request, this.dialect) ??
      (this.answers.length > 1 ? this.answers.shift() : this.answers[0]) ?? { status: 500 };
    if (typeof answer === 'function') return answer(response, request);

    const { status = 200, headers = {}, body = '' } = answer;
    const isText = typeof body === 'string' || Buffer.isBuffer(body);
    response.writeHead(status, {
      ...(isText ? {} : { 'content-type': 'application/json' }),
      ...headers,
    });
    response.end(isText ? body : JSON.stringify(body));
  }
}

/** Returns the answer of a chat model, in the form of Chat Completions. */
export function chatAnswer(content: unknown, choice: object = {}): ProviderAnswer {
  return {
    body: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_780_000_000,
      model: 'tiny',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content },
          logprobs: null,
          finish_reason: 'stop',
          ...choice,
        },
      ],
      usage: { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 },
    },
  };
}
