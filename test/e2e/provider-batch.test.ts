import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { killAtEachStep } from '../support/chaos/provider-batch-kills.ts';
import { type CommandOutcome, type RunningCommand, startCommand } from '../support/command.ts';
import { createFastClock, runCommandHere, startCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { FakeProvider, type ProviderHandler } from '../support/providers/fake-provider.ts';
import { ProviderLedger } from '../support/providers/provider-ledger.ts';
import { isPosix } from '../support/system.ts';

let provider: FakeProvider;
let ledger: ProviderLedger;
let home: string;

beforeEach(async () => {
  provider = await FakeProvider.start();
  ledger = new ProviderLedger();
  ledger.origin = new URL(provider.baseUrl).origin;
  provider.reset(ledger.handler);
  home = createTemporaryDirectory();
  const dataDir = path.join(home, 'the-data');
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(
    path.join(dataDir, 'models.yaml'),
    `providers:
  o: {baseUrl: "${provider.baseUrl}", batch: true, apiKeyEnv: O_KEY}
  a: {baseUrl: "${ledger.origin}", batch: true, engine: anthropic, apiKeyEnv: O_KEY}
  plain: {baseUrl: "${provider.baseUrl}"}
models:
  - {model: open, modality: text, provider: o, price: {input: 2, output: 8}}
  - {model: claude, modality: text, provider: a, price: {input: 2, output: 8}}
  - {model: plain, modality: text, provider: plain}
`,
  );

  for (const model of ['open', 'claude', 'plain']) {
    writeFileSync(path.join(home, `${model}.prompt`), `---\nmodel: ${model}\n---\nName: {{name}}`);
  }

  writeFileSync(path.join(home, 'rows.csv'), 'id,name\nr1,Ada\nr2,Bob\nr3,Cy\n');
});

afterEach(() => provider.close());

const argsFor = (model: string, flags: readonly string[]): string[] =>
  [
    'batch',
    `${model}.prompt`,
    '--from',
    'rows.csv',
    '--out',
    'out.jsonl',
    '--provider-batch',
  ].concat(flags);

const env = (): Record<string, string> => ({
  PROMPTRUN_DATA_DIR: path.join(home, 'the-data'),
  O_KEY: 'k-secret-12345',
});

/** Starts a batch in a separate process, which can be killed. */
const start = (model: string, ...flags: string[]): RunningCommand =>
  startCommand(argsFor(model, flags), { home, env: env() });

/** Starts a batch in this process, with the waits between looks at the provider cut short. */
const startHere = (model: string, ...flags: string[]) =>
  startCommandHere(argsFor(model, flags), { home, env: env(), clock: createFastClock(50) });

const runBatch = (model: string, ...flags: string[]): Promise<CommandOutcome> =>
  startHere(model, ...flags).ended;

/** Starts a batch that does not end at the provider, and leaves it by Ctrl-C. */
async function leave(model: string): Promise<CommandOutcome> {
  ledger.looksToEnd = 1000;
  const { stderr, raise, ended } = startHere(model);
  await expect.poll(stderr).toContain('in_progress');
  raise('SIGINT');
  return await ended;
}

interface Line {
  id: string;
  runId: string | null;
  runStatus: string | null;
  outputs: { data: string }[];
  seconds: number | null;
  cost: number | null;
  error: string | null;
}

const readLines = (): Line[] =>
  readFileSync(path.join(home, 'out.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Line);

const readJournal = (): string => path.join(home, 'out.jsonl.journal');

describe('the ledger', () => {
  it("answers the providers' own packages", async () => {
    const open = new OpenAI({ apiKey: 'k', baseURL: provider.baseUrl, maxRetries: 0 });
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
    const line = `${JSON.stringify({ custom_id: 'x', method: 'POST', url: '/v1/chat/completions', body })}\n`;
    const file = await open.files.create({
      file: await toFile(Buffer.from(line), 'x.jsonl'),
      purpose: 'batch',
    });
    const batch = await open.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });

    expect((await open.batches.retrieve(batch.id)).status).toBe('completed');

    const content = await (await open.files.content(`out-${batch.id}`)).text();
    expect(content).toContain('"custom_id":"x"');

    // The package asks for a newer version of the interface than we do.
    const defaultHeaders = { 'anthropic-version': '2023-06-01' };
    const claude = new Anthropic({
      apiKey: 'k',
      baseURL: ledger.origin,
      maxRetries: 0,
      defaultHeaders,
    });

    const params = {
      model: 'm',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'Hi' } as const],
    };
    const message = await claude.messages.batches.create({
      requests: [{ custom_id: 'y', params }],
    });

    expect((await claude.messages.batches.retrieve(message.id)).processing_status).toBe('ended');

    const results = [];
    for await (const result of await claude.messages.batches.results(message.id)) {
      results.push(result.custom_id);
    }

    expect(results).toContain('y');
  });
});

it.each(['openai', 'anthropic'] as const)(
  'survives a kill at each step at %s: one batch, each row once, at half the price',
  async engine => {
    const { stderr, ...verdict } = await killAtEachStep(engine, 40, createTemporaryDirectory());
    expect(verdict, stderr).toMatchObject({
      exitCode: 0,
      batches: [40],
      wrong: [],
      lines: 40,
      bill: 0.056,
      cost: 0.056,
      open: false,
    });
  },
  240_000,
);

describe.each(['open', 'claude'])('a batch at the provider of %s', model => {
  it('answers each row with its own, at half the price', async () => {
    const { code, stderr } = await runBatch(model, '--sorted');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(ledger.batches).toHaveLength(1);
    expect(readLines().map(({ id, runStatus, seconds }) => ({ id, runStatus, seconds }))).toEqual(
      ['r1', 'r2', 'r3'].map(id => ({ id, runStatus: 'succeeded', seconds: null })),
    );
    expect(
      readLines().map(({ outputs }) => /Name: (\w+)/.exec(outputs[0]?.data ?? '')?.[1]),
    ).toEqual(['Ada', 'Bob', 'Cy']);

    expect(existsSync(readJournal())).toBe(false);

    const again = await runCommandHere(['runs', 'get', readLines()[0]?.runId ?? ''], {
      home,
      env: env(),
    });
    expect(again.stdout).toContain('Name: Ada');
  });

  it('fails rows that have no answer, and sends them again only with a flag', async () => {
    const name = ({ parameters }: { parameters: object }): string =>
      /Name: (\w+)/.exec(JSON.stringify(parameters))?.[1] ?? '';
    ledger.verdict = entry => {
      if (name(entry) === 'Ada') return 'expired';
      return name(entry) === 'Bob' ? 'missing' : { text: 'fine' };
    };

    expect((await runBatch(model)).code).toBe(EXIT.runFailed);
    expect(readLines().filter(({ runStatus }) => runStatus === 'failed')).toHaveLength(2);
    expect((await runBatch(model, '--resume')).code).toBe(EXIT.runFailed);
    expect(ledger.batches).toHaveLength(1);

    ledger.verdict = () => ({ text: 'fine' });
    expect((await runBatch(model, '--resume', '--retry-failed')).code).toBe(0);
    expect(ledger.batches.map(({ entries }) => entries.length)).toEqual([3, 2]);
  });

  it.runIf(isPosix)('that was interrupted resumes, and is one batch', async () => {
    const left = await leave(model);
    expect(left).toMatchObject({
      code: EXIT.interrupted,
      stderr: expect.stringContaining('--resume collects it') as string,
    });
    expect((await runBatch(model, '--resume', '--timeout', '2s')).code).toBe(EXIT.waitTimeout);

    ledger.looksToEnd = 1;
    expect((await runBatch(model, '--resume')).code).toBe(0);
    expect(ledger.batches).toHaveLength(1);
    expect(readLines()).toHaveLength(3);
  });

  it('whose creation was not answered is looked up, and is one batch', async () => {
    ledger.unanswered = /^POST .*batches$/;
    expect((await runBatch(model)).code).toBe(EXIT.fault);
    expect((await runBatch(model, '--resume')).code).toBe(0);
    expect(ledger.batches).toHaveLength(1);
    expect(new Set(readLines().map(({ id }) => id)).size).toBe(3);
  });

  it('that was announced and never created is created once', async () => {
    const stopped = ledger.stopAt(/^POST .*(?:files|batches)$/, 'before');
    const { child, ended } = start(model);
    await stopped;
    child.kill('SIGKILL');
    await ended;

    expect((await runBatch(model, '--resume')).code).toBe(0);
    expect(ledger.batches.map(({ entries }) => entries.length)).toEqual([3]);
    expect(readLines()).toHaveLength(3);
  });

  it('that was announced and never created is created within the cap of the resumed command', async () => {
    const stopped = ledger.stopAt(/^POST .*(?:files|batches)$/, 'before');
    const { child, ended } = start(model);
    await stopped;
    child.kill('SIGKILL');
    await ended;

    expect((await runBatch(model, '--resume', '--max-cost', '0.009')).code).toBe(EXIT.capReached);
    expect(ledger.batches.map(({ entries }) => entries.length)).toEqual([2]);
    expect((await runBatch(model, '--resume')).code).toBe(0);
    expect(ledger.batches.map(({ entries }) => entries.length)).toEqual([2, 1]);
    expect(readLines()).toHaveLength(3);
  });

  it('whose creation was not answered can be cancelled', async () => {
    // A batch of Claude's is recognised by its results, so it can be found only once it has ended.
    if (model === 'claude') return;
    ledger.looksToEnd = 1000;
    ledger.unanswered = /^POST .*batches$/;
    expect((await runBatch(model)).code).toBe(EXIT.fault);
    expect((await runBatch(model, '--resume', '--cancel')).code).toBe(0);
    expect(ledger.batches).toMatchObject([{ cancelled: true }]);
  });

  it.runIf(isPosix)('can be cancelled, and keeps what was done', async () => {
    await leave(model);
    ledger.verdict = entry =>
      JSON.stringify(entry).includes('Ada') ? { text: 'done' } : 'missing';

    expect((await runBatch(model, '--resume', '--cancel')).code).toBe(EXIT.runFailed);
    expect(ledger.batches).toMatchObject([{ cancelled: true }]);
    expect(
      readLines()
        .map(({ runStatus }) => runStatus)
        .sort(),
    ).toEqual(['failed', 'failed', 'succeeded']);
  });

  it('holds no more rows than fit into the cap at its price', async () => {
    expect((await runBatch(model, '--max-cost', '0.009')).code).toBe(EXIT.capReached);
    expect(ledger.batches.map(({ entries }) => entries.length)).toEqual([2]);
    expect(readLines().map(({ cost }) => cost)).toEqual([0.0014, 0.0014]);
  });

  it.each([
    ['of its results', /^GET .*(?:content|results)$/],
    ['of itself', /^GET .*batches\/\w+$/],
  ])('is settled by no passing 404 %s', async (_, at) => {
    ledger.refusals.push({ at, status: 404 });
    expect((await runBatch(model)).code).toBe(0);
    expect(readLines().map(({ runStatus }) => runStatus)).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
    ]);
    expect(ledger.batches).toHaveLength(1);
  });

  it('whose results are gone stays in doubt, and is sent again only with a flag', async () => {
    ledger.resultsAreGone = true;

    for (const flags of [[], ['--resume', '--retry-failed']]) {
      const { code, stderr } = await runBatch(model, ...flags);
      expect(stderr).toContain('are gone: 3 rows');
      expect(code).toBe(EXIT.runFailed);
      expect(stderr).toContain('3 in doubt');
      expect(stderr).toContain('--resume --retry-unknown');
      expect(readFileSync(path.join(home, 'out.jsonl'), 'utf8')).toBe('');
    }

    expect(ledger.batches).toHaveLength(1);

    const again = start(model, '--resume', '--retry-unknown');
    await again.untilStderr(/3 runs may be paid for twice/);
    ledger.resultsAreGone = false;

    expect((await again.ended).code).toBe(0);
    expect(ledger.batches.map(({ entries }) => entries.length)).toEqual([3, 3]);
  });

  it('says that it prepares the rows, in place of lines of progress', async () => {
    const { stderr } = await runBatch(model);
    expect(stderr).toMatch(
      /^note: preparing rows for [oa]\n(?:.*\n)*?note: uploading 3 rows to [oa] as a batch$/mu,
    );
    expect(stderr).not.toMatch(/^\d+ of 3 done/mu);
  });
});

/**
 * Prints at a signal how many bytes are in use once all garbage is collected; how many Node takes
 * before that varies.
 */
const REPORTS_MEMORY = `
require('node:v8').setFlagsFromString('--expose-gc');
const collect = require('node:vm').runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  process.stderr.write('in use: ' + process.memoryUsage().heapUsed + '\\n');
});
`;

it.runIf(isPosix)('holds no row in memory until its answer comes', async () => {
  ledger.looksToEnd = 1000;

  // 12 MB, as much as the command needs without them.
  const rows = Array.from({ length: 30 }, (_, row) => `r${row},${'x'.repeat(400_000)}\n`);
  writeFileSync(path.join(home, 'rows.csv'), ['id,name\n', ...rows].join(''));
  const preload = path.join(home, 'reports-memory.cjs');
  writeFileSync(preload, REPORTS_MEMORY);

  const countInUse = async (): Promise<number> => {
    const shownLength = running.stderr().length;
    running.child.kill('SIGUSR2');
    const report = (): string => running.stderr().slice(shownLength);
    await expect.poll(report).toMatch(/^in use: \d+$/mu);
    return Number(/^in use: (\d+)$/mu.exec(report())?.[1]);
  };

  const used: number[] = [];
  const answer = async (...[response, request]: Parameters<ProviderHandler>): Promise<void> => {
    if (request.path.endsWith('/files')) used.push(await countInUse());
    ledger.handler(response, request);
  };

  provider.reset((...args) => void answer(...args));
  const measured = { ...env(), NODE_OPTIONS: `--require ${preload}` };
  const running = startCommand(argsFor('open', []), { home, env: measured });
  await running.untilStderr(/in_progress/);
  used.push(await countInUse());

  expect(used.filter(bytes => bytes < 24_000_000)).toHaveLength(2);
  expect(readdirSync(home).filter(file => file.startsWith('.promptrun'))).toEqual([]);

  running.child.kill('SIGINT');
  await running.ended;
});

it('waits as long as the provider wants before it asks again', async () => {
  ledger.refusals.push(
    { at: /^POST .*batches$/, status: 429, headers: { 'retry-after': '3' } },
    { at: /^GET .*batches\/\w+$/, status: 429, headers: { 'retry-after-ms': '1' } },
    { at: /^GET .*content$/, status: 503, headers: { 'retry-after-ms': '1' } },
  );

  const slept: number[] = [];
  const clock = createFastClock(50);
  const sleep: typeof clock.sleep = (ms, signal) => {
    slept.push(ms);
    return clock.sleep(ms, signal);
  };

  const ended = await runCommandHere(argsFor('open', []), {
    home,
    env: env(),
    clock: { ...clock, sleep },
  });
  expect(ended.code).toBe(0);
  expect(slept).toContain(3000);
  expect([ledger.files.length, ledger.batches.length]).toEqual([1, 1]);
});

it('takes a refusal for the end of its rows, and one of the key for that of the command', async () => {
  ledger.refusals.push({ at: /^POST .*batches$/, status: 401 });
  const denied = await runBatch('open');

  expect(denied).toMatchObject({
    code: EXIT.unauthorised,
    stderr: expect.stringContaining('--resume') as string,
  });
  expect(denied.stderr).not.toContain('k-secret-12345');

  ledger.refusals.push({ at: /^POST .*batches$/, status: 400 });
  expect((await runBatch('open', '--resume')).code).toBe(EXIT.runFailed);
  expect(readLines().map(({ error }) => error)).toEqual(
    Array(3).fill(expect.stringContaining('answered 400')),
  );
  expect((await runBatch('open', '--resume', '--retry-failed')).code).toBe(0);
  expect(ledger.batches).toHaveLength(1);
});

it.runIf(isPosix)(
  'refuses rows that have changed since they were handed over, or hands them over again',
  async () => {
    await leave('open');
    ledger.looksToEnd = 1;
    writeFileSync(path.join(home, 'rows.csv'), 'id,name\nr1,Ada\nr2,Zoe\nr3,Cy\n');

    expect(await runBatch('open', '--resume')).toMatchObject({
      code: EXIT.usage,
      stderr: expect.stringContaining('since it was sent') as string,
    });
    expect((await runBatch('open', '--resume', '--changed', 'run', '--sorted')).code).toBe(0);
    expect(ledger.batches.map(({ entries }) => entries.length)).toEqual([3, 1]);
    expect(
      readLines().map(({ outputs }) => /Name: (\w+)/.exec(outputs[0]?.data ?? '')?.[1]),
    ).toEqual(['Ada', 'Zoe', 'Cy']);
  },
);

it('is estimated at half the price, and nothing is asked', async () => {
  const { stdout } = await runBatch('open', '--dry-run', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ creations: 3, estimate: { cost: 0.012008 } });
  expect(provider.requests).toEqual([]);
});

it('hands over one row under a cap of credits that no run has cost yet, and the others on resuming', async () => {
  const first = await runBatch('open', '--max-credits', '100');
  expect(first.code).toBe(EXIT.capReached);
  expect(first.stderr).toContain(
    'what a run costs is not known before the first one has ended; 2 rows not done',
  );
  expect(first.stderr).toContain('To continue, add --resume to the same command.\n');
  expect((await runBatch('open', '--max-credits', '100', '--resume')).code).toBe(0);
  expect(ledger.batches.map(({ entries }) => entries.length)).toEqual([1, 2]);
});

it('is created neither as a batch nor run by run if it is to be cancelled', async () => {
  const words = [
    'batch',
    'open.prompt',
    '--from',
    'rows.csv',
    '--out',
    'out.jsonl',
    '--resume',
    '--cancel',
  ];
  expect((await runCommandHere(words, { home, env: env() })).code).toBe(EXIT.runFailed);
  expect(readLines().map(({ runId }) => runId)).toEqual([null, null, null]);
  expect(provider.requests).toEqual([]);
});

it('is replayed from its recordings', async () => {
  expect((await runBatch('open', '--record', 'kept')).code).toBe(0);

  provider.reset(ledger.handler);
  const words = [
    'batch',
    'open.prompt',
    '--from',
    'rows.csv',
    '--out',
    'replayed.jsonl',
    '--provider-batch',
  ];
  const { code, stderr } = await runCommandHere([...words, '--replay', 'kept'], {
    home,
    env: env(),
  });

  expect(stderr).toContain('the rows were answered from recordings');
  expect(code).toBe(0);
  expect(provider.requests).toEqual([]);
});

it('is refused for a provider without batches', async () => {
  expect((await runBatch('plain', '--dry-run')).code).toBe(EXIT.usage);
  const { code, stderr } = await runBatch('plain');
  expect(code).toBe(EXIT.usage);
  expect(stderr).toContain("can't be used in a batch");
  expect(provider.requests).toEqual([]);
});
