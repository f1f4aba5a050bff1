import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import {
  answerIsLost,
  createTransport,
  GatewayTimeoutError,
  NotFoundError,
  type PollEvent,
  PromptService,
  type PromptServiceError,
  type Run,
  type RunRow,
} from '../../src/index.ts';
import { TestService } from '../support/local-service.ts';
import { findDeadBaseUrl } from '../support/scripted-service.ts';

// Code as users of the library write it, against the real local service.

let local: TestService;
let service: PromptService;

beforeAll(async () => {
  local = await TestService.start({ syncWindowMs: 1 });
  service = new PromptService({ baseUrl: local.service.url, apiKey: local.key });
});

afterAll(async () => {
  await service.close();
  await local.close();
});

/** Creates a run, which may still be running when its creation is answered. */
async function createRun(
  ...creation: Parameters<PromptService['runs']['create']>
): Promise<Run | GatewayTimeoutError> {
  return await service.runs.create(...creation).catch((error: unknown) => {
    if (error instanceof GatewayTimeoutError) return error;
    throw error;
  });
}

it('finds a prompt, runs it, and waits if that takes longer', async () => {
  const { rows } = await service.prompts.search('hello');
  const prompt = rows.find(({ slug }) => slug === 'hello');
  if (prompt === undefined) throw new Error('there is no such prompt');

  const { promptVersionId } = prompt;
  const request = { promptVersionId, inputs: { textInputs: { name: 'Ada' } } };
  const run = await service.runs.create(request).catch((error: unknown) => {
    if (error instanceof GatewayTimeoutError) {
      return service.waitForRun(error.runId, { idFromService: true });
    }
    throw error;
  });

  expect(run.runStatus).toBe('succeeded');
  expect(run.outputs.map(({ type, data }) => [type, data.includes('Ada')])).toEqual([
    ['text', true],
  ]);
});

it('goes through all prompts of a local service', async () => {
  const slugs: string[] = [];
  for await (const { slug } of service.prompts.all()) slugs.push(slug);
  expect(slugs).toEqual(expect.arrayContaining(['hello', 'postcard', 'describe', 'sandbox']));
});

it('goes through the newest runs, and stops when it has enough', async () => {
  const promptVersionId = await local.versionOf('sandbox');
  for (let nth = 0; nth < 3; nth++) await createRun({ promptVersionId, inputs: {} });

  const newest: RunRow[] = [];
  for await (const row of service.runs.all({ since: 1 })) {
    newest.push(row);
    if (newest.length === 2) break;
  }

  expect(newest.map(row => row.promptVersionId)).toEqual([promptVersionId, promptVersionId]);
});

it('distinguishes errors by their class, status and data', async () => {
  const runId = '00000000-0000-4000-8000-000000000000';
  const error = await service.runs
    .get(runId)
    .catch((thrown: unknown) => thrown as PromptServiceError);
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toMatchObject({ status: 'NOT_FOUND_ERROR', httpStatus: 404, data: null });
  expect(answerIsLost(error)).toBe(false);
});

it('gives up when its signal aborts, with the reason of the signal', async () => {
  const reason = new Error('the user has gone');
  await expect(service.account.get({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

it('reports progress while it waits', async () => {
  const promptVersionId = await local.versionOf('sandbox');
  const created = await createRun({ promptVersionId, inputs: {} });

  const polledStatuses: (string | undefined)[] = [];
  const onPoll = ({ run, error }: PollEvent): void =>
    void polledStatuses.push(run?.runStatus ?? error?.message);
  await service.waitForRun(created.runId, { onPoll });

  expect(polledStatuses.at(-1)).toBe('succeeded');
});

it('sends the same creation again without paying twice if the service keeps its key', async () => {
  const promptVersionId = await local.versionOf('hello');
  const request = { promptVersionId, inputs: { textInputs: { name: 'Grace' } } };
  const options = { idempotencyKey: 'order-17' };
  const { runId } = await createRun(request, options);
  expect(service.keepsIdempotencyKeys).toBe(true);
  expect(await createRun(request, options)).toMatchObject({ runId });
});

it('reports every request, and goes around a proxy for the hosts in `noProxy`', async () => {
  const transport = await createTransport({
    proxy: { httpProxy: await findDeadBaseUrl(), noProxy: '127.0.0.1' },
  });
  const events: string[] = [];
  const directService = new PromptService({
    baseUrl: local.service.url,
    apiKey: local.key,
    transport,
    onEvent: ({ kind, method, status }) => events.push([kind, method, status].join(' ').trim()),
  });
  await directService.account.credits();
  await directService.close();

  expect(events).toEqual(['request GET', 'answer GET 200']);
});

it('goes through a proxy, which opens a tunnel to the service', async () => {
  const tunnelHosts: (string | undefined)[] = [];
  const proxy = createServer().on('connect', ({ url }, socket) => {
    tunnelHosts.push(url);
    const upstream = connect(Number(new URL(local.service.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    for (const stream of [socket, upstream]) stream.on('error', () => {});
  });
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));

  const { port } = proxy.address() as AddressInfo;
  const proxiedService = new PromptService({
    baseUrl: local.service.url,
    apiKey: local.key,
    transport: await createTransport({ proxy: { httpProxy: `http://127.0.0.1:${port}` } }),
  });
  await proxiedService.account.credits();
  await proxiedService.close();

  expect(tunnelHosts).toEqual([new URL(local.service.url).host]);
});
