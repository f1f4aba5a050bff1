import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Clock } from '../../src/service/core/clock.ts';
import {
  openStore,
  type Service,
  type ServiceOptions,
  startService,
} from '../../src/service/index.ts';
import { createDatabaseFor, findDatabaseBeside } from './databases/test-database.ts';
import { InterfaceDescription } from './interface-description.ts';

/** An answer of the service, its envelope taken apart. */
export interface ServiceAnswer<T = never> {
  readonly http: number;
  readonly status: string;
  readonly message: string | undefined;
  readonly data: T;
  readonly headers: Headers;
}

export interface CallOptions {
  readonly key?: string | undefined;
  /** A value is sent as JSON, a text as it is. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/**
 * The local service on a free port, and a caller whose every answer is checked against its
 * description.
 */
export class TestService {
  #closed: Promise<void> | undefined;

  private constructor(
    readonly service: Service,
    readonly dataDir: string,
    readonly key: string,
    readonly notices: readonly string[],
    private readonly description: InterfaceDescription,
  ) {}

  /** Starts a service that its caller has to close. */
  static async start(options: Partial<ServiceOptions> = {}): Promise<TestService> {
    const dataDir = options.dataDir ?? createTemporaryDataDir();
    const notices: string[] = [];
    const onNotice = (line: string): void => void notices.push(line);
    const database = options.databaseUrl ?? (await createDatabaseFor(dataDir));
    const service = await startService({
      env: {},
      onNotice,
      ...options,
      dataDir,
      databaseUrl: database,
    });
    const description = await InterfaceDescription.of(service.url);

    return new TestService(
      service,
      dataDir,
      service.newKey ?? service.sessionKey,
      notices,
      description,
    );
  }

  /** Starts a service that is closed at the end of the test, unless it was closed before. */
  static async forTest(options: Partial<ServiceOptions> = {}): Promise<TestService> {
    const service = await TestService.start(options);
    onTestFinished(() => service.close());
    return service;
  }

  async call<T = never>(
    method: string,
    target: string,
    options: CallOptions = {},
  ): Promise<ServiceAnswer<T>> {
    const { key = this.key, body, headers = {} } = options;
    const answer = await fetch(`${this.service.url}${target}`, {
      method,
      headers: { ...(key === '' ? {} : { authorization: `Bearer ${key}` }), ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });

    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');

    const text = await answer.text();
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));

    const envelope = JSON.parse(text) as { status: string; message?: string; data: T };
    const { pathname } = new URL(`${this.service.url}${target}`);
    this.description.check(method, pathname, answer.status, envelope);

    expect(Object.keys(envelope)).toEqual(
      answer.ok ? ['status', 'data'] : ['status', 'message', 'data'],
    );

    return { http: answer.status, headers: answer.headers, message: envelope.message, ...envelope };
  }

  get<T = never>(target: string, options: CallOptions = {}): Promise<ServiceAnswer<T>> {
    return this.call<T>('GET', target, options);
  }

  post<T = never>(
    target: string,
    body: unknown,
    options: CallOptions = {},
  ): Promise<ServiceAnswer<T>> {
    return this.call<T>('POST', target, { ...options, body });
  }

  /** Returns the data of a success; fails the test if the answer is an error. */
  async data<T>(target: string, options: CallOptions = {}): Promise<T> {
    const answer = await this.get<T>(target, options);
    expect(answer).toMatchObject({ http: 200, status: 'SUCCESS' });
    return answer.data;
  }

  /** Returns the version id of a published prompt, by its slug. */
  async versionOf(slug: string): Promise<string> {
    return (await this.find(slug)).promptVersionId;
  }

  async find(slug: string): Promise<{ promptId: string; promptVersionId: string }> {
    const { rows } = await this.data<{
      rows: { slug: string; promptId: string; promptVersionId: string }[];
    }>(`/prompts/publish?q=${encodeURIComponent(slug)}`);
    const found = rows.find(row => row.slug === slug);
    if (!found) throw new Error(`${slug} is not published`);
    return { promptId: found.promptId, promptVersionId: found.promptVersionId };
  }

  /** Publishes a prompt file through the store, as the command line does. */
  publish(slug: string, source: string): ReturnType<typeof publishPromptFile> {
    return publishPromptFile(this.dataDir, slug, source);
  }

  /** Closes the service, if it is still open. */
  close(): Promise<void> {
    this.#closed ??= this.service.close();
    return this.#closed;
  }
}

/** Returns a data directory that is removed when all tests have ended. */
export function createTemporaryDataDir(): string {
  return path.join(mkdtempSync(path.join(tmpdir(), 'promptrun-service-')), 'data');
}

export async function publishPromptFile(
  dataDir: string,
  slug: string,
  source: string,
  clock?: Clock,
): Promise<{ promptId: string; promptVersionId: string; changed: boolean }> {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'promptrun-prompt-')), `${slug}.prompt`);
  writeFileSync(file, source);

  const store = await openStore({
    dataDir,
    databaseUrl: await findDatabaseBeside(dataDir),
    env: {},
    ...(clock && { clock }),
  });
  try {
    return await store.publish(file);
  } finally {
    await store.close();
    rmSync(path.dirname(file), { recursive: true });
  }
}

/** Opens the store of a data directory, next to the services on it. */
export async function openStoreIn(dataDir: string): ReturnType<typeof openStore> {
  return await openStore({ dataDir, databaseUrl: await findDatabaseBeside(dataDir), env: {} });
}

/** Opens the store of a data directory for a test, at whose end it is closed. */
export async function storeForTest(dataDir: string): ReturnType<typeof openStore> {
  const store = await openStoreIn(dataDir);
  onTestFinished(() => store.close());
  return store;
}

/** Creates a key for a new user. */
export async function createKeyIn(
  dataDir: string,
  user: { user: string; plan?: 'pro' | 'none'; credits?: number },
): Promise<string> {
  const store = await openStoreIn(dataDir);
  try {
    return (await store.createKey(user)).key;
  } finally {
    await store.close();
  }
}
