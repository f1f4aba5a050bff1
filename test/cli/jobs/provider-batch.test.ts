import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Connection } from '../../../src/cli/context.ts';
import { InterruptedError } from '../../../src/cli/core/errors.ts';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { Budget } from '../../../src/cli/creation/spending/budget.ts';
import { BatchJournal } from '../../../src/cli/jobs/batch-journal.ts';
import type { Job, JobOutcome } from '../../../src/cli/jobs/job.ts';
import type { PlannedJob } from '../../../src/cli/jobs/job-engine.ts';
import type { BatchHandover } from '../../../src/cli/jobs/provider-batch/batch-handover.ts';
import { BatchSession } from '../../../src/cli/jobs/provider-batch/batch-session.ts';
import { handOverJobs } from '../../../src/cli/jobs/provider-batch/hand-over-jobs.ts';
import { StopControl } from '../../../src/cli/jobs/stop-control.ts';
import { toContainedPath } from '../../../src/files/writing/write-below.ts';
import {
  BatchFault,
  type BatchProvider,
  type BatchRequest,
} from '../../../src/models/provider-batches/batch-provider.ts';
import { createTemporaryDirectory, testClock, testContext } from '../../support/context.ts';

const VERSION = '11111111-1111-4111-8111-111111111111';

/** Returns a provider whose batches have these limits, and the batches that it got. */
function createSmallProvider(limits: BatchProvider['limits']): {
  provider: BatchProvider;
  batches: BatchRequest[][];
} {
  const batches: BatchRequest[][] = [];
  const provider: BatchProvider = {
    name: 'small',
    endpoint: '/v1/chat/completions',
    limits,
    create: requests => Promise.resolve(String(batches.push([...requests]))),
    find: () => Promise.reject(new Error('every creation was answered')),
    readState: () =>
      Promise.resolve({ state: 'completed', hasEnded: true, doneCount: 0, failedCount: 0 }),
    async *collect(id) {
      for (const { customId } of (batches[Number(id) - 1] ?? []).toReversed()) {
        yield { customId, answer: { body: {} } };
      }
    },
    cancel: () => Promise.reject(new Error('nobody cancels it')),
  };
  return { provider, batches };
}

/** Opens a journal that the end of the test closes. */
async function openJournal(
  journalPath = path.join(createTemporaryDirectory(), 'out.jsonl.journal'),
): Promise<BatchJournal> {
  const journal = await BatchJournal.open(toContainedPath(journalPath));
  onTestFinished(() => journal.close());
  return journal;
}

interface HandoverSetup {
  /** The text of each row. */
  readonly texts: readonly string[];
  /** The name of the input that takes the text. Default `text`. */
  readonly input?: string;
  readonly promptVersionId?: string;
  /** A new file by default. */
  readonly journalPath?: string;
}

/** Hands over rows. Returns the key of the creation that takes each row's answer, by row id. */
async function handOverRows(
  { texts, input = 'text', promptVersionId = VERSION, journalPath }: HandoverSetup,
  provider: BatchProvider,
  context?: Awaited<ReturnType<typeof testContext>>,
): Promise<Map<string, string>> {
  const { ctx } = context ?? (await testContext());
  const journal = await openJournal(journalPath);
  const batches = {
    getProvider: () => Promise.resolve(provider),
    buildRequest: ({ inputs }: { inputs: { textInputs: { text: string } } }) =>
      Promise.resolve(Buffer.from(JSON.stringify(inputs.textInputs))),
    offerAnswer: () => {},
    withdrawAnswer: () => {},
  };
  const connection = { serviceName: 'local', providerBatches: () => Promise.resolve(batches) };

  const planJobs = async function* (): AsyncGenerator<PlannedJob> {
    for (const [index, text] of texts.entries()) {
      const request = {
        promptVersionId,
        text: new Map([[input, text]]),
        images: [],
        options: new Map(),
      };
      const job: Job = {
        id: `r${index + 1}`,
        row: index + 1,
        buildRequest: () => Promise.resolve(request),
      };
      yield { job, plan: { kind: 'create' } };
    }
  };

  const keys = new Map<string, string>();
  const parts = {
    ctx,
    connection: connection as unknown as Connection,
    promptVersionId,
    journal,
    stop: new StopControl(),
    budget: new Budget(ctx, { cost: undefined, credits: undefined }),
    estimatedCredits: undefined,
    cancel: false,
    retryUnknown: false,
    settle: (job: Job, outcome: JobOutcome) =>
      Promise.reject(new Error(`${job.id}: ${outcome.kind}`, { cause: outcome })),
  };
  for await (const { job, plan } of handOverJobs(planJobs(), parts)) {
    if (plan.kind === 'repeat') keys.set(job.id, plan.entry.id);
  }

  return keys;
}

it.each([
  { name: 'number', limits: { requests: 2, bytes: 1_000_000 } },
  { name: 'size in bytes, not in characters,', limits: { requests: 100, bytes: 1000 } },
])('rows that exceed the maximum $name of a batch are split into several', async ({ limits }) => {
  const { provider, batches } = createSmallProvider(limits);
  // The letter é has two bytes.
  const texts = ['a', 'b', 'c', 'd', 'e'].map(letter => letter + 'é'.repeat(110));
  const keys = await handOverRows({ texts }, provider);

  expect(batches.map(requests => requests.length)).toEqual([2, 2, 1]);
  const sentParameters = batches
    .flat()
    .map(({ parameters }) => JSON.parse(Buffer.from(parameters).toString()) as unknown);
  expect(sentParameters).toEqual(texts.map(text => ({ text })));
  expect(batches.flat().map(({ customId }) => customId)).toEqual(
    ['r1', 'r2', 'r3', 'r4', 'r5'].map(id => keys.get(id)),
  );
});

it('an interrupted command names every batch that is still running', async () => {
  const { provider, batches } = createSmallProvider({ requests: 2, bytes: 1_000_000 });
  const context = await testContext();

  const interrupt = new AbortController();
  const readState = (): Promise<never> => {
    interrupt.abort(new InterruptedError('SIGINT'));
    return Promise.reject(interrupt.signal.reason as Error);
  };

  const interrupted = { ...context, ctx: { ...context.ctx, signal: interrupt.signal } };
  const handover = handOverRows(
    { texts: ['a', 'b', 'c'] },
    { ...provider, readState },
    interrupted,
  );

  await expect(handover).rejects.toThrow('interrupted');
  expect(batches).toHaveLength(2);
  expect(context.stderr()).toContain(
    'note: batches 1, 2 still running at small; --resume collects them, --resume --cancel cancels them\n',
  );
});

it.each(['wait', 'collect'] as const)(
  '%s() fails with exit 1 if the provider answers 404 for a minute',
  async method => {
    const { ctx } = await testContext({ clock: testClock() });
    const journal = await openJournal();
    const { provider } = createSmallProvider({ requests: 1, bytes: 1 });

    let requestCount = 0;
    const refuse = (): Promise<never> => {
      requestCount += 1;
      return Promise.reject(new BatchFault('it is not there', 404, undefined));
    };

    const refusingProvider: BatchProvider = {
      ...provider,
      readState: refuse,
      async *collect() {
        yield await refuse();
      },
    };
    const session = new BatchSession({ ctx, journal, stop: new StopControl() }, refusingProvider);
    const result =
      method === 'wait' ? session.wait('batch_1', 1) : session.collect('batch_1').next();

    await expect(result).rejects.toMatchObject({
      exitCode: EXIT.fault,
      hints: [expect.stringContaining('--resume')],
    });

    // It asked again and again before it gave up.
    expect(requestCount).toBeGreaterThan(5);
  },
);

it('a wait survives any number of 404s with answers between them', async () => {
  const { ctx } = await testContext({ clock: testClock() });
  const journal = await openJournal();
  const { provider } = createSmallProvider({ requests: 1, bytes: 1 });

  let readCount = 0;
  const readState: BatchProvider['readState'] = async () => {
    readCount += 1;
    if (readCount % 2 === 1) throw new BatchFault('it is not there', 404, undefined);
    return { state: 'in_progress', hasEnded: readCount >= 20, doneCount: 0, failedCount: 0 };
  };
  const session = new BatchSession(
    { ctx, journal, stop: new StopControl() },
    { ...provider, readState },
  );

  expect(await session.wait('batch_1', 1)).toMatchObject({ hasEnded: true });
});

it('a search that waits for the end of a batch says so at once, and again after 30 s', async () => {
  const { ctx, stderr } = await testContext({ clock: testClock() });
  const journal = await openJournal();
  const { provider } = createSmallProvider({ requests: 1, bytes: 1 });
  let searchCount = 0;
  const find = async (): Promise<'unread' | undefined> => {
    searchCount += 1;
    // Six waits of growing length take more than 30 s, and less than 60 s.
    return searchCount < 7 ? 'unread' : undefined;
  };
  const session = new BatchSession(
    { ctx, journal, stop: new StopControl() },
    { ...provider, find },
  );

  expect(await session.findLostBatch({ key: 'k', promptVersionId: VERSION, rows: new Map() })).toBe(
    'missing',
  );

  const waitingNote =
    'note: a batch that may be this one is still running; waiting for its end to identify it';
  expect(stderr().trim().split('\n')).toEqual([waitingNote, waitingNote]);
});

it('a batch that the list shows only after a while is found', async () => {
  const { ctx } = await testContext({ clock: testClock() });
  const journal = await openJournal();
  const { provider } = createSmallProvider({ requests: 1, bytes: 1 });
  let searchCount = 0;
  const find = async (): Promise<{ id: string } | undefined> => {
    searchCount += 1;
    return searchCount < 3 ? undefined : { id: 'batch_1' };
  };
  const session = new BatchSession(
    { ctx, journal, stop: new StopControl() },
    { ...provider, find },
  );
  const handover: BatchHandover = { key: 'k', promptVersionId: VERSION, rows: new Map() };

  expect(await session.findLostBatch(handover)).toBe('found');
  expect(handover.batchId).toBe('batch_1');
});

it('a search survives any number of 404s with answers between them', async () => {
  const { ctx } = await testContext({ clock: testClock() });
  const journal = await openJournal();
  const { provider } = createSmallProvider({ requests: 1, bytes: 1 });
  let searchCount = 0;
  const find = async (): Promise<'unread' | { id: string }> => {
    searchCount += 1;
    if (searchCount % 2 === 1) throw new BatchFault('it is not there', 404, undefined);
    return searchCount < 20 ? 'unread' : { id: 'batch_1' };
  };
  const session = new BatchSession(
    { ctx, journal, stop: new StopControl() },
    { ...provider, find },
  );

  expect(await session.findLostBatch({ key: 'k', promptVersionId: VERSION, rows: new Map() })).toBe(
    'found',
  );
});

it('a search ends without a fault when the command stops', async () => {
  const { ctx } = await testContext({ clock: testClock() });
  const journal = await openJournal();
  const { provider } = createSmallProvider({ requests: 1, bytes: 1 });
  const stop = new StopControl();
  const find: BatchProvider['find'] = async (_, signal) => {
    stop.stopStarting();
    signal.throwIfAborted();
    return undefined;
  };
  const session = new BatchSession({ ctx, journal, stop }, { ...provider, find });

  expect(await session.findLostBatch({ key: 'k', promptVersionId: VERSION, rows: new Map() })).toBe(
    'stopped',
  );
});

it('a batch in an old journal is collected, and its rows are not handed over again', async () => {
  const journalPath = path.join(createTemporaryDirectory(), 'out.jsonl.journal');
  copyFileSync('test/samples/provider-batch-0.2.0.journal', journalPath);
  const key = 'e316d5a7ed534bc390a789668cff8677';
  const { provider, batches } = createSmallProvider({ requests: 100, bytes: 1_000_000 });
  const collectedIds: string[] = [];
  const earlierProvider: BatchProvider = {
    ...provider,
    async *collect(id) {
      collectedIds.push(id);
      for (const row of [2, 1]) yield { customId: `${key}-${row}`, answer: { body: {} } };
    },
  };

  const promptVersionId = 'd35c7889-8604-55e1-9f09-3f58e9b262cd';
  const setup = { texts: ['Ada', 'Bob'], input: 'name', promptVersionId, journalPath };
  const keys = await handOverRows(setup, earlierProvider);

  expect(collectedIds).toEqual(['batch-1']);
  expect(batches).toEqual([]);
  expect(Object.fromEntries(keys)).toEqual({ r1: `${key}-1`, r2: `${key}-2` });
});
