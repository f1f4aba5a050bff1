import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Connection } from '../../../src/cli/context.ts';
import { Interrupted } from '../../../src/cli/core/errors.ts';
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
import { temporaryDirectory, testClock, testContext } from '../../support/context.ts';

const VERSION = '11111111-1111-4111-8111-111111111111';

/** Returns a provider that takes little in one batch, and the rows that it got. */
function smallProvider(limits: BatchProvider['limits']): {
  provider: BatchProvider;
  handed: BatchRequest[][];
} {
  const handed: BatchRequest[][] = [];
  const provider: BatchProvider = {
    name: 'small',
    endpoint: '/v1/chat/completions',
    limits,
    create: requests => Promise.resolve(String(handed.push([...requests]))),
    find: () => Promise.reject(new Error('every creation was answered')),
    readState: () =>
      Promise.resolve({ state: 'completed', hasEnded: true, doneCount: 0, failedCount: 0 }),
    async *collect(id) {
      for (const { customId } of (handed[Number(id) - 1] ?? []).toReversed()) {
        yield { customId, answer: { body: {} } };
      }
    },
    cancel: () => Promise.reject(new Error('nobody cancels it')),
  };
  return { provider, handed };
}

interface Rows {
  readonly texts: readonly string[];
  /** Default `text`. */
  readonly input?: string;
  readonly promptVersionId?: string;
  readonly journalFile?: string;
}

/**
 * Hands over rows of these texts and returns the keys of the creations that take the answers, by
 * row.
 */
async function handOver(
  {
    texts,
    input = 'text',
    promptVersionId = VERSION,
    journalFile = path.join(temporaryDirectory(), 'out.jsonl.journal'),
  }: Rows,
  provider: BatchProvider,
  context?: Awaited<ReturnType<typeof testContext>>,
): Promise<Map<string, string>> {
  const { ctx } = context ?? (await testContext());
  const journal = await BatchJournal.open(toContainedPath(journalFile));
  onTestFinished(() => journal.close());
  const batches = {
    forVersion: () => Promise.resolve(provider),
    prepare: ({ inputs }: { inputs: { textInputs: { text: string } } }) =>
      Promise.resolve(Buffer.from(JSON.stringify(inputs.textInputs))),
    offer: () => {},
    withdraw: () => {},
  };
  const connection = { service: 'local', providerBatches: () => Promise.resolve(batches) };

  const planned = async function* (): AsyncGenerator<PlannedJob> {
    for (const [index, text] of texts.entries()) {
      const sent = {
        promptVersionId,
        text: new Map([[input, text]]),
        images: [],
        options: new Map(),
      };
      const job: Job = {
        id: `r${index + 1}`,
        row: index + 1,
        request: () => Promise.resolve(sent),
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
  for await (const { job, plan } of handOverJobs(planned(), parts)) {
    if (plan.kind === 'repeat') keys.set(job.id, plan.entry.id);
  }

  return keys;
}

it.each([
  ['number', { requests: 2, bytes: 1_000_000 }],
  ['size in bytes, not in characters', { requests: 100, bytes: 1000 }],
])('rows over the %s that a batch may hold go as several', async (_, limits) => {
  const { provider, handed } = smallProvider(limits);
  const texts = ['a', 'b', 'c', 'd', 'e'].map(letter => letter + 'é'.repeat(110));
  const keys = await handOver({ texts }, provider);

  expect(handed.map(requests => requests.length)).toEqual([2, 2, 1]);
  expect(
    handed
      .flat()
      .map(({ parameters }) => JSON.parse(Buffer.from(parameters).toString()) as unknown),
  ).toEqual(texts.map(text => ({ text })));
  expect(handed.flat().map(({ customId }) => customId)).toEqual(
    ['r1', 'r2', 'r3', 'r4', 'r5'].map(id => keys.get(id)),
  );
});

it('each of several batches that still run is named when the command is interrupted', async () => {
  const { provider, handed } = smallProvider({ requests: 2, bytes: 1_000_000 });
  const context = await testContext();

  const interrupt = new AbortController();
  const readState = (): Promise<never> => {
    interrupt.abort(new Interrupted('SIGINT'));
    return Promise.reject(interrupt.signal.reason as Error);
  };

  const interrupted = { ...context, ctx: { ...context.ctx, signal: interrupt.signal } };
  const handing = handOver({ texts: ['a', 'b', 'c'] }, { ...provider, readState }, interrupted);

  await expect(handing).rejects.toThrow('interrupted');
  expect(handed).toHaveLength(2);
  expect(context.stderr()).toContain(
    'note: batches 1, 2 still running at small; --resume collects them, --resume --cancel cancels them\n',
  );
});

it.each(['look', 'collect'] as const)(
  'a 404 that lasts for a minute ends it with exit 1: %s',
  async asked => {
    const { ctx } = await testContext({ clock: testClock() });
    const journal = await BatchJournal.open(
      toContainedPath(path.join(temporaryDirectory(), 'out.jsonl.journal')),
    );
    onTestFinished(() => journal.close());
    const { provider } = smallProvider({ requests: 1, bytes: 1 });

    let times = 0;
    const refuse = (): Promise<never> => {
      times += 1;
      return Promise.reject(new BatchFault('it is not there', 404, undefined));
    };

    const refusing: BatchProvider = {
      ...provider,
      readState: refuse,
      async *collect() {
        yield await refuse();
      },
    };
    const session = new BatchSession({ ctx, journal, stop: new StopControl() }, refusing);
    const asking =
      asked === 'look' ? session.wait('batch_1', 1) : session.collect('batch_1').next();

    await expect(asking).rejects.toMatchObject({
      exitCode: EXIT.fault,
      hints: [expect.stringContaining('--resume')],
    });
    expect(times).toBeGreaterThan(5);
  },
);

it('404s that an answer interrupts do not end it, however many there are', async () => {
  const { ctx } = await testContext({ clock: testClock() });
  const journal = await BatchJournal.open(
    toContainedPath(path.join(temporaryDirectory(), 'out.jsonl.journal')),
  );
  onTestFinished(() => journal.close());
  const { provider } = smallProvider({ requests: 1, bytes: 1 });

  let times = 0;
  const readState: BatchProvider['readState'] = async () => {
    times += 1;
    if (times % 2 === 1) throw new BatchFault('it is not there', 404, undefined);
    return { state: 'in_progress', hasEnded: times >= 20, doneCount: 0, failedCount: 0 };
  };
  const session = new BatchSession(
    { ctx, journal, stop: new StopControl() },
    { ...provider, readState },
  );

  expect(await session.wait('batch_1', 1)).toMatchObject({ hasEnded: true });
});

it('a search that waits for the end of a batch says so at first, and every 30 s', async () => {
  const { ctx, stderr } = await testContext({ clock: testClock() });
  const journal = await BatchJournal.open(
    toContainedPath(path.join(temporaryDirectory(), 'out.jsonl.journal')),
  );
  onTestFinished(() => journal.close());
  const { provider } = smallProvider({ requests: 1, bytes: 1 });
  let times = 0;
  const find = (): Promise<'unread' | undefined> =>
    Promise.resolve(++times < 7 ? 'unread' : undefined);
  const session = new BatchSession(
    { ctx, journal, stop: new StopControl() },
    { ...provider, find },
  );

  expect(await session.findLostBatch({ key: 'k', promptVersionId: VERSION, rows: new Map() })).toBe(
    'missing',
  );

  const line =
    'note: a batch that may be this one is still running; waiting for its end to identify it';
  expect(stderr().trim().split('\n')).toEqual([line, line]);
});

it('a batch that the list shows only a moment later is not created again', async () => {
  const { ctx } = await testContext({ clock: testClock() });
  const journal = await BatchJournal.open(
    toContainedPath(path.join(temporaryDirectory(), 'out.jsonl.journal')),
  );
  onTestFinished(() => journal.close());
  const { provider } = smallProvider({ requests: 1, bytes: 1 });
  let times = 0;
  const find = () => Promise.resolve(++times < 3 ? undefined : { id: 'batch_1' });
  const session = new BatchSession(
    { ctx, journal, stop: new StopControl() },
    { ...provider, find },
  );
  const handed: BatchHandover = { key: 'k', promptVersionId: VERSION, rows: new Map() };

  expect(await session.findLostBatch(handed)).toBe('found');
  expect(handed.batchId).toBe('batch_1');
});

it('a search waits on through short times of 404s, however many there are', async () => {
  const { ctx } = await testContext({ clock: testClock() });
  const journal = await BatchJournal.open(
    toContainedPath(path.join(temporaryDirectory(), 'out.jsonl.journal')),
  );
  onTestFinished(() => journal.close());
  const { provider } = smallProvider({ requests: 1, bytes: 1 });
  let times = 0;
  const find = async (): Promise<'unread' | { id: string }> => {
    times += 1;
    if (times % 2 === 1) throw new BatchFault('it is not there', 404, undefined);
    return times < 20 ? 'unread' : { id: 'batch_1' };
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
  const journal = await BatchJournal.open(
    toContainedPath(path.join(temporaryDirectory(), 'out.jsonl.journal')),
  );
  onTestFinished(() => journal.close());
  const { provider } = smallProvider({ requests: 1, bytes: 1 });
  const stop = new StopControl();
  const find: BatchProvider['find'] = async (_, signal) => {
    stop.stopRows();
    signal.throwIfAborted();
    return undefined;
  };
  const session = new BatchSession({ ctx, journal, stop }, { ...provider, find });

  expect(await session.findLostBatch({ key: 'k', promptVersionId: VERSION, rows: new Map() })).toBe(
    'stopped',
  );
});

it('a batch in the journal of version 0.2.0 is collected, and its rows are not handed over again', async () => {
  const journalFile = path.join(temporaryDirectory(), 'out.jsonl.journal');
  copyFileSync('test/samples/provider-batch-0.2.0.journal', journalFile);
  const key = 'e316d5a7ed534bc390a789668cff8677';
  const { provider, handed } = smallProvider({ requests: 100, bytes: 1_000_000 });
  const collected: string[] = [];
  const old: BatchProvider = {
    ...provider,
    async *collect(id) {
      collected.push(id);
      for (const at of [2, 1]) yield { customId: `${key}-${at}`, answer: { body: {} } };
    },
  };

  const promptVersionId = 'd35c7889-8604-55e1-9f09-3f58e9b262cd';
  const rows = { texts: ['Ada', 'Bob'], input: 'name', promptVersionId, journalFile };
  const keys = await handOver(rows, old);

  expect(collected).toEqual(['batch-1']);
  expect(handed).toEqual([]);
  expect(Object.fromEntries(keys)).toEqual({ r1: `${key}-1`, r2: `${key}-2` });
});
