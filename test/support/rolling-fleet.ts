import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Run } from '../../src/wire/index.ts';
import { startCommand } from './command.ts';
import { createTemporaryDirectory } from './context.ts';
import { chatAnswer, FakeProvider } from './providers/fake-provider.ts';

const CALLERS = 4;

/** The longest that the model takes for an answer. */
const LONGEST_ANSWER_MS = 400;

interface Instance {
  readonly url: string;
  readonly open: Set<Promise<string>>;
  /** Asks it to end; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/**
 * Instances on one database, perhaps of several versions, under the load of callers who create one
 * run after the other at any of them. An instance that leaves is sent nothing more and has answered
 * before it ends, as behind a load balancer.
 */
export class RollingFleet {
  /** The HTTP status of each creation's answer, or the fault, by how often it came. */
  readonly answers = new Map<string, number>();
  /** The status of each acknowledged run, by its id. */
  readonly acknowledged = new Map<string, string>();
  key = '';
  readonly #database: string;
  readonly #provider: FakeProvider;
  readonly #prompts = createTemporaryDirectory();
  readonly #instances: Instance[] = [];
  readonly #over = new AbortController();
  #callers: Promise<void>[] = [];

  static async on(database: string): Promise<RollingFleet> {
    return new RollingFleet(database, await FakeProvider.start());
  }

  private constructor(database: string, provider: FakeProvider) {
    this.#database = database;
    this.#provider = provider;
    writeFileSync(path.join(this.#prompts, 'ask.prompt'), '---\nmodel: ollama/tiny\n---\n{{id}}\n');

    provider.reset(response => {
      setTimeout(() => {
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(chatAnswer('fine').body));
      }, Math.random() * LONGEST_ANSWER_MS);
    });
  }

  /**
   * Starts an instance of the built command, sends it its share of the load, and lets the oldest
   * instance leave.
   */
  async replaceOldest(command: string): Promise<number | null> {
    await this.join(command);
    return await this.leave();
  }

  async join(command: string): Promise<void> {
    const dataDir = path.join(createTemporaryDirectory(), 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const { child, untilStdout, stdout } = startCommand(
      ['serve', '--port', '0', '-q', '--sync-window', '30s', '--prompts', this.#prompts],
      {
        command,
        env: {
          PROMPTRUN_DATA_DIR: dataDir,
          PROMPTRUN_DATABASE_URL: this.#database,
          OLLAMA_HOST: new URL(this.#provider.baseUrl).host,
        },
      },
    );
    const [, url = ''] = await untilStdout(/^listening on (\S+)$/m);
    await untilStdout(/^page: /m);
    this.key ||= /^key: (\S+)$/m.exec(stdout())?.[1] ?? '';

    const stop = async (): Promise<number | null> => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      return child.exitCode;
    };

    this.#instances.push({ url, open: new Set(), stop });
  }

  /** Lets the oldest instance leave; returns its exit code. */
  async leave(): Promise<number | null> {
    const instance = this.#instances.shift();
    if (instance === undefined) return null;
    await Promise.all(instance.open);
    return await instance.stop();
  }

  async startLoad(): Promise<void> {
    const promptVersionId = await this.#createVersion();
    this.#callers = Array.from({ length: CALLERS }, async () => {
      while (!this.#over.signal.aborted) await this.#createOnce(promptVersionId);
    });
  }

  async stopLoad(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#callers);
  }

  /** Counts the requests to the model for each text. */
  timesAsked(): Map<string, number> {
    const times = new Map<string, number>();
    for (const { text } of this.#provider.requests) {
      const { messages } = JSON.parse(text) as { messages: { content: string }[] };
      const id = messages.at(-1)?.content ?? '';
      times.set(id, (times.get(id) ?? 0) + 1);
    }
    return times;
  }

  async close(): Promise<void> {
    await this.stopLoad();
    while (this.#instances.length > 0) await this.leave();
    await this.#provider.close();
  }

  async get<T>(route: string): Promise<T> {
    const [instance] = this.#instances;
    const answer = await fetch(`${instance?.url}${route}`, {
      headers: { authorization: `Bearer ${this.key}` },
    });
    return ((await answer.json()) as { data: T }).data;
  }

  async #createVersion(): Promise<string> {
    for (;;) {
      const { rows } = await this.get<{ rows: { slug: string; promptVersionId: string }[] }>(
        '/prompts/publish?q=ask',
      );
      const found = rows.find(({ slug }) => slug === 'ask');
      if (found) return found.promptVersionId;
    }
  }

  async #createOnce(promptVersionId: string): Promise<void> {
    const instance = this.#instances[Math.floor(Math.random() * this.#instances.length)];
    if (!instance) return;
    const creation = this.#create(instance, promptVersionId);
    instance.open.add(creation);
    const answer = await creation;
    instance.open.delete(creation);
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
  }

  async #create({ url }: Instance, promptVersionId: string): Promise<string> {
    const id = randomUUID();
    try {
      const answer = await fetch(`${url}/runs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.key}`, 'idempotency-key': id },
        body: JSON.stringify({ promptVersionId, inputs: { textInputs: { id } } }),
      });
      const { data, message } = (await answer.json()) as { data: Run | null; message?: string };
      if (data) this.acknowledged.set(data.runId, data.runStatus);
      return answer.ok ? String(answer.status) : `${answer.status} ${message}`;
    } catch (error) {
      return String(error instanceof Error ? (error.cause ?? error) : error);
    }
  }
}
