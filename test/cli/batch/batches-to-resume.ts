import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { computeRequestDigest } from '../../../src/cli/inputs/request-body.ts';
import { type BatchResult, readLastLines, runBatchCommand } from '../../support/batch-command.ts';
import { createDirectoryWith, type TestOptions } from '../../support/context.ts';
import { type ServiceForTest, startServiceForTest } from '../../support/service-for-test.ts';

/** The rows of a batch of three. */
export const NAMES = 'name\nAda\nBo\nEve\n';

/** The arguments of a batch whose runs take a second. */
export const SLEEPY = [
  'sandbox',
  '--from',
  'rows.jsonl',
  '--out',
  'results.jsonl',
  '-o',
  'delaySeconds=1',
];

/** Returns the line of a row that has succeeded. */
export function formatSucceededLine(row: number): string {
  return `{"row":${row},"id":"${row}","runId":"${randomUUID()}","runStatus":"succeeded","outputs":[],"tokens":1,"error":null}\n`;
}

/** Returns the line of a row that has failed. */
export function formatFailedLine(row: number): string {
  return `{"row":${row},"id":"${row}","runId":null,"runStatus":"failed","outputs":[],"tokens":0,"error":"no"}\n`;
}

/** Starts a service for the tests of a file. Returns functions that prepare and resume batches. */
export function setUpBatchesToResume() {
  let service: ServiceForTest;
  let earlierRunCount = 0;
  beforeAll(async () => {
    service = await startServiceForTest({ syncWindowMs: 60_000 }, afterAll);
  });
  beforeEach(async () => {
    earlierRunCount = (await service.runs()).length;
  });

  const runBatch = (args: readonly string[], options: TestOptions): Promise<BatchResult> =>
    runBatchCommand(args, { env: service.env, ...options });

  /** Returns the number of runs that the test has created. */
  const countCreatedRuns = async (): Promise<number> =>
    (await service.runs()).length - earlierRunCount;

  /**
   * Resumes a batch of three names with these results so far, and with a journal unless `hasJournal`
   * is false.
   */
  async function resume(
    results: string,
    flags: readonly string[] = [],
    {
      rows = NAMES,
      steps = [],
      hasJournal = true,
    }: { rows?: string; steps?: object[]; hasJournal?: boolean } = {},
  ): Promise<BatchResult & { home: string }> {
    const home = createDirectoryWith({ 'names.csv': rows, 'results.jsonl': results });
    if (hasJournal) writeJournal(home, await findVersion('hello'), steps);
    const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume', ...flags];
    return { home, ...(await runBatch(args, { home })) };
  }

  function writeJournal(
    home: string,
    promptVersionId: string,
    steps: readonly object[],
    out = 'results.jsonl',
  ): void {
    const facts = { batch: 1, service: service.service.url, promptVersionId, options: {} };
    const lines = [facts, ...steps].map(line => `${JSON.stringify(line)}\n`);
    writeFileSync(path.join(home, `${out}.journal`), lines.join(''));
  }

  async function findVersion(slug: string): Promise<string> {
    const answer = await fetch(`${service.service.url}/prompts/publish?q=${slug}`, {
      headers: { authorization: `Bearer ${service.service.sessionKey}` },
    });
    const { data } = (await answer.json()) as {
      data: { rows: { slug: string; promptVersionId: string }[] };
    };
    return data.rows.find(row => row.slug === slug)?.promptVersionId ?? '';
  }

  /** Returns a creation of a row whose process died, as the journal has it. */
  async function buildCreationStep(
    row: number,
    name: string,
    overrides: object = {},
  ): Promise<object> {
    const request = {
      promptVersionId: '',
      text: new Map([['name', name]]),
      images: [],
      options: new Map(),
    };
    return {
      row,
      id: String(row),
      state: 'creating',
      digest: computeRequestDigest(request),
      journalId: randomUUID(),
      promptVersionId: await findVersion('hello'),
      time: new Date(Date.now() - 60_000).toISOString(),
      ...overrides,
    };
  }

  /** Returns the id of a run of Zoe. */
  async function createRunOfZoe(): Promise<string> {
    const home = createDirectoryWith({ 'names.csv': 'name\nZoe\n' });
    await runBatch(['hello', '--from', 'names.csv', '--out', 'results.jsonl'], {
      home: home,
    });
    return readLastLines(home)[0]?.runId ?? '';
  }

  return {
    service: () => service,
    runBatch,
    countCreatedRuns,
    resume,
    writeJournal,
    findVersion,
    buildCreationStep,
    createRunOfZoe,
  };
}
