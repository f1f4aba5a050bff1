import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  answerIsLost,
  createTransport,
  GatewayTimeoutError,
  NotFoundError,
  type PollEvent,
  PromptService,
  type PromptServiceError,
  type RunRow,
} from '../../src/index.ts';
import { TestService } from '../support/local-service.ts';

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

it('goes through all runs, a page at a time, for as long as it likes', async () => {
  const promptVersionId = await local.versionOf('sandbox');
  for (let nth = 0; nth < 3; nth++) {
    await service.runs.create({ promptVersionId, inputs: {} }).catch((error: unknown) => {
      if (!(error instanceof GatewayTimeoutError)) throw error;
    });
  }

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
  const created = await service.runs
    .create({ promptVersionId, inputs: {} })
    .catch((error: unknown) => {
      if (error instanceof GatewayTimeoutError) return error;
      throw error;
    });

  const polledStatuses: (string | undefined)[] = [];
  const onPoll = ({ run, error }: PollEvent): void =>
    void polledStatuses.push(run?.runStatus ?? error?.message);
  await service.waitForRun(created.runId, { onPoll });

  expect(polledStatuses.at(-1)).toBe('succeeded');
});

it('sends the same creation again without paying twice if the service keeps its key', async () => {
  const promptVersionId = await local.versionOf('hello');
  const request = { promptVersionId, inputs: { textInputs: { name: 'Grace' } } };
  const create = async (): Promise<string> => {
    const options = { idempotencyKey: 'order-17' };
    const { runId } = await service.runs.create(request, options).catch((error: unknown) => {
      if (error instanceof GatewayTimeoutError) return error;
      throw error;
    });
    return runId;
  };

  const runId = await create();
  expect(service.keepsIdempotencyKeys).toBe(true);
  expect(await create()).toBe(runId);
});

it('goes through a proxy, and reports every request', async () => {
  const transport = await createTransport({
    proxy: { httpProxy: 'http://127.0.0.1:9', noProxy: '127.0.0.1' },
  });
  const events: string[] = [];
  const proxiedService = new PromptService({
    baseUrl: local.service.url,
    apiKey: local.key,
    transport,
    onEvent: ({ kind, method, status }) => events.push([kind, method, status].join(' ').trim()),
  });
  await proxiedService.account.credits();
  await proxiedService.close();

  expect(events).toEqual(['request GET', 'answer GET 200']);
});
