import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { type CommandOutcome, type RunningCommand, startCommand } from '../support/command.ts';
import { createFastClock, runCommandHere, startCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { FakeProvider } from '../support/providers/fake-provider.ts';
import { ProviderLedger, type StopPoint } from '../support/providers/provider-ledger.ts';
import { isPosix } from '../support/system.ts';

let provider: FakeProvider;
let ledger: ProviderLedger;
let home: string;

const NAMES = ['Ada', 'Bob', 'Cy'];

beforeEach(async () => {
  provider = await FakeProvider.start();
  ledger = new ProviderLedger();
  ledger.origin = new URL(provider.baseUrl).origin;
  ledger.verdict = ({ parameters }) => ({ text: answerTo(JSON.stringify(parameters['messages'])) });
  provider.reset(ledger.handler);
  home = createTemporaryDirectory();
  mkdirSync(path.join(home, 'data'), { mode: 0o700 });
  writeFileSync(
    path.join(home, 'data/models.yaml'),
    `providers:
  o: {baseUrl: "${provider.baseUrl}", batch: true, apiKeyEnv: O_KEY}
  a: {baseUrl: "${ledger.origin}", batch: true, engine: anthropic, apiKeyEnv: O_KEY}
  plain: {baseUrl: "${provider.baseUrl}"}
models:
  - {model: openai, modality: text, provider: o, price: {input: 2, output: 8}}
  - {model: anthropic, modality: text, provider: a, price: {input: 2, output: 8}}
  - {model: plain, modality: text, provider: plain}
`,
  );

  writeFileSync(path.join(home, 'greet.prompt'), '---\nmodel: openai\n---\nName: {{name}}');
  writeCases('rubric: "is polite"');
});

afterEach(() => provider.close());

/** Gives names back, and as a judge finds only Bob impolite. */
function answerTo(messages: string): string {
  if (!messages.includes('You judge')) return /Name: (\w+)/u.exec(messages)?.[1] ?? 'nobody';
  return messages.includes('Bob') ? 'No, it names Bob.' : 'Yes, it is.';
}

/**
 * Writes two runs of a case for each name; its answer has to be the name, and whatever else is
 * expected.
 */
function writeCases(...more: string[]): void {
  const cases = NAMES.map(
    name =>
      `  - name: ${name}\n    inputs: {name: ${name}}\n    repeat: 2\n    expect:\n${[`contains: ${name}`, ...more].map(one => `      - ${one}\n`).join('')}`,
  );
  writeFileSync(path.join(home, 'greet.test.yaml'), `cases:\n${cases.join('')}`);
}

const argsFor = (model: string, flags: readonly string[]): string[] =>
  ['test', '--provider-batch', '-m', model, '--judge', model, '--json'].concat(flags);

const env = (): Record<string, string> => ({
  PROMPTRUN_DATA_DIR: path.join(home, 'data'),
  O_KEY: 'k-secret-12345',
});

/** Starts tests in a separate process, which can be killed. */
const start = (model: string, ...flags: string[]): RunningCommand =>
  startCommand(argsFor(model, flags), { home, env: env() });

/** Starts tests in this process, with the waits between looks at the provider cut short. */
const startHere = (model: string, ...flags: string[]) =>
  startCommandHere(argsFor(model, flags), { home, env: env(), clock: createFastClock(50) });

const runTests = (model: string, ...flags: string[]): Promise<CommandOutcome> =>
  startHere(model, ...flags).ended;

/** Returns the verdict of each case; the judge rejects Bob's runs. */
function readVerdicts({ stdout }: CommandOutcome): object {
  const { cases } = JSON.parse(stdout) as {
    cases: {
      name: string;
      status: string;
      passed: number;
      repetitions: { outputs: { data: string }[] }[];
    }[];
  };
  return cases.map(({ name, status, passed, repetitions }) => {
    return [name, status, passed, ...repetitions.map(({ outputs }) => outputs[0]?.data)];
  });
}

const VERDICTS = [
  ['Ada', 'passed', 2, 'Ada', 'Ada'],
  ['Bob', 'failed', 0, 'Bob', 'Bob'],
  ['Cy', 'passed', 2, 'Cy', 'Cy'],
];

const listBatchSizes = (): number[] => ledger.batches.map(({ entries }) => entries.length);

/** The requests at which the command is killed, in order, for each of its two batches. */
const STEPS: Readonly<Record<string, readonly (readonly [RegExp, StopPoint])[]>> = {
  openai: [
    [/^POST .*\/files$/, 'after'],
    [/^POST .*\/batches$/, 'before'],
    [/^POST .*\/batches$/, 'after'],
    [/^GET .*\/batches\/\w+$/, 'before'],
    [/^GET .*\/files\/.*\/content$/, 'within'],
  ],
  anthropic: [
    [/^POST .*\/batches$/, 'before'],
    [/^POST .*\/batches$/, 'after'],
    [/^GET .*\/batches\/\w+$/, 'before'],
    [/^GET .*\/results$/, 'within'],
  ],
};

it('a case that a provider batch answers has no time, so it does not meet a limit of seconds', async () => {
  writeCases('seconds: 20');
  const { code, stdout } = await runTests('openai');
  expect(code).toBe(EXIT.runFailed);
  expect(stdout).toContain('the time is unknown, so it may be more than 20 s');
});

describe.each(['openai', 'anthropic'])('test --provider-batch at %s', model => {
  it('sends all repetitions as one batch and the questions to the judge as another, at half the price', async () => {
    const outcome = await runTests(model);
    expect(outcome, outcome.stderr).toMatchObject({ code: EXIT.runFailed });
    expect(readVerdicts(outcome)).toEqual(VERDICTS);
    expect(listBatchSizes()).toEqual([6, 6]);

    const { totals, cases } = JSON.parse(outcome.stdout) as {
      totals: { cost: number };
      cases: readonly { seconds: number | null }[];
    };
    expect(totals.cost).toBeCloseTo(ledger.bill, 9);
    expect(cases.map(({ seconds }) => seconds)).toEqual([null, null, null]);
  });

  it('pays for nothing twice, wherever it is killed', async () => {
    for (const [at, point] of [...(STEPS[model] ?? []), ...(STEPS[model] ?? [])]) {
      const stopped = ledger.stopAt(at, point);
      const { child, ended } = start(model, '--resume');
      await Promise.race([stopped, ended.then(outcome => expect.fail(`ended: ${outcome.stderr}`))]);
      child.kill('SIGKILL');
      await ended;
    }

    const outcome = await runTests(model, '--resume');
    expect(outcome, outcome.stderr).toMatchObject({ code: EXIT.runFailed });
    expect(readVerdicts(outcome)).toEqual(VERDICTS);
    expect(listBatchSizes()).toEqual([6, 6]);

    const { totals } = JSON.parse(outcome.stdout) as { totals: { cost: number } };
    expect(totals.cost).toBeCloseTo(ledger.bill, 9);
  }, 120_000);
});

describe.runIf(isPosix)('a batch of tests that is left at the provider', () => {
  async function leave(): Promise<CommandOutcome> {
    ledger.looksToEnd = 1000;
    const { stderr, raise, ended } = startHere('openai');
    await expect.poll(stderr).toContain('in_progress');
    raise('SIGINT');
    return await ended;
  }

  it('is named, collected by --resume, and not paid for again by a new start', async () => {
    const left = await leave();
    expect(left).toMatchObject({ code: EXIT.interrupted });
    expect(left.stderr).toContain('batch_1 still running');

    const anew = await runTests('openai');
    expect(anew.stderr).toContain('the provider still has a batch of an earlier invocation');
    expect(anew.code).toBe(EXIT.usage);

    ledger.looksToEnd = 1;
    const outcome = await runTests('openai', '--resume');

    expect(readVerdicts(outcome)).toEqual(VERDICTS);
    expect(listBatchSizes()).toEqual([6, 6]);

    await runTests('openai');
    expect(listBatchSizes()).toEqual([6, 6, 6, 6]);
  });

  it('is cancelled with --resume --cancel: what was not done has failed', async () => {
    await leave();
    ledger.verdict = ({ parameters }) => {
      const text = answerTo(JSON.stringify(parameters['messages']));
      return text === 'Ada' ? { text } : 'expired';
    };
    writeCases();
    const outcome = await runTests('openai', '--resume', '--cancel');

    expect(outcome, outcome.stderr).toMatchObject({ code: EXIT.runFailed });
    expect(ledger.batches.map(({ cancelled }) => cancelled)).toEqual([true]);

    const expired = expect.stringContaining('has no answer') as string;
    expect(readVerdicts(outcome)).toEqual([
      ['Ada', 'passed', 2, 'Ada', 'Ada'],
      ['Bob', 'failed', 0, expired, expired],
      ['Cy', 'failed', 0, expired, expired],
    ]);
  });

  it('ends with exit code 6 after --timeout', async () => {
    const looked = ledger.stopAt(/^GET .*\/batches\/\w+$/, 'before');
    const clock = createFastClock(50);
    const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
      ms === 90 * 60_000 ? looked : clock.sleep(ms, signal);
    const args = argsFor('openai', ['--timeout', '90m']);
    const outcome = await runCommandHere(args, { home, env: env(), clock: { ...clock, sleep } });

    expect(outcome, outcome.stderr).toMatchObject({ code: EXIT.waitTimeout });
    expect(outcome.stderr).toContain('batch_1 still running');
    expect(listBatchSizes()).toEqual([6]);
  });
});

it('uploads only what fits the cap, and resumes under a higher one', async () => {
  writeCases();
  const outcome = await runTests('openai', '--max-cost', '0.014');

  expect(outcome).toMatchObject({ code: EXIT.capReached });

  const [first = 0] = listBatchSizes();
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(6);

  const more = await runTests('openai', '--resume', '--max-cost', '1');
  expect(more, more.stderr).toMatchObject({ code: EXIT.ok });
  expect(listBatchSizes()).toEqual([first, 6 - first]);
});

it('goes by what an earlier run cost when it is resumed under a cap of credits', async () => {
  writeCases();
  expect((await runTests('openai', '--max-credits', '100')).code).toBe(EXIT.capReached);
  expect((await runTests('openai', '--max-credits', '100', '--resume')).code).toBe(EXIT.ok);
  expect(listBatchSizes()).toEqual([1, 5]);
});

it('forecasts half the price, and sends nothing', async () => {
  const args = ['test', '-m', 'openai', '--judge', 'openai', '--json', '--dry-run'];
  const costs: number[] = [];
  for (const flags of [[], ['--provider-batch']]) {
    const { stdout } = await runCommandHere([...args, ...flags], { home, env: env() });
    costs.push((JSON.parse(stdout) as { estimate: { cost: number } }).estimate.cost);
  }

  expect(costs[1]).toBeCloseTo((costs[0] ?? 0) / 2, 6);
  expect(provider.requests).toHaveLength(0);
});

it.each([
  { model: 'plain', flags: [], message: "can't be used in a batch: only openai" },
  { model: 'echo', flags: [], message: "can't be used in a batch: only openai" },
  { model: 'openai', flags: ['--judge', 'echo'], message: "can't be used in a batch: only openai" },
  { model: 'openai', flags: ['--watch'], message: "--provider-batch can't be used with --watch" },
  { model: 'openai', flags: ['--sure'], message: "--provider-batch can't be used with --sure" },
  { model: 'openai', flags: ['--cancel'], message: '--cancel needs --resume' },
])('is refused before anything is sent: $model $flags', async ({ model, flags, message }) => {
  const outcome = await runTests(model, ...flags);
  expect(outcome.stderr).toContain(message);
  expect(outcome.code).toBe(EXIT.usage);
  expect(provider.requests).toHaveLength(0);
});

it('replays recorded answers without a provider', async () => {
  const recorded = await runTests('openai', '--record', 'recorded');
  await provider.close();
  const replayed = await runTests('openai', '--replay', 'recorded');
  expect(readVerdicts(recorded)).toEqual(VERDICTS);
  expect(readVerdicts(replayed)).toEqual(VERDICTS);
});
