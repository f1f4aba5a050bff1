import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { type CommandOutcome, runCommand, startCommand } from '../support/command.ts';
import { temporaryDirectory } from '../support/context.ts';
import { wordsOf } from '../support/documents.ts';
import { FakeProvider, said } from '../support/fake-provider.ts';
import { scriptedServiceOf, success } from '../support/scripted-service.ts';

// What a command advises on its way out is run here as it was printed, in the same environment.

const RUN_ID = '0b6e4b54-7d43-4c5f-9b0a-3c1d6f1e2a77';
const VERSION_ID = '5f0d8a3e-2b61-4c8e-8f1d-94b7c6a5e210';

let provider: FakeProvider;
let home: string;
let env: Record<string, string>;
/** The answers that the provider has not given yet. */
let open: ServerResponse[];

beforeAll(async () => {
  provider = await FakeProvider.start();
});
afterAll(() => provider.close());

beforeEach(() => {
  home = temporaryDirectory();
  const dataDir = path.join(home, 'the-data');
  mkdirSync(dataDir, { mode: 0o700 });
  mkdirSync(path.join(home, 'prompts'));
  const prompt = '---\nmodel: tiny\ninput: {schema: {who: string}}\n---\nTell a story of {{who}}';
  const files = {
    'the-data/models.yaml': `providers: {here: {baseUrl: "${provider.baseUrl}"}}\nmodels: [{model: tiny, modality: text, provider: here}]\n`,
    'ask.prompt': prompt,
    'prompts/ask.prompt': prompt,
    'rows.csv': 'who\nAda\n',
    'ask.test.yaml': 'cases:\n  - {name: a story, inputs: {who: Ada}, expect: [{contains: Once}]}\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  env = { PROMPTRUN_DATA_DIR: dataDir };
  open = [];
  provider.reset(response => void open.push(response));
});

const command = (words: readonly string[], stdin = ''): Promise<CommandOutcome> =>
  runCommand(words, { home, env, stdin });

/** Starts a command, and stops it once the provider was asked. */
async function stopped(line: string, by: string): Promise<CommandOutcome> {
  const isFlag = by.startsWith('--');
  const running = startCommand((isFlag ? `${line} ${by}` : line).split(' '), { home, env });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  await expect.poll(() => provider.asked.length, { timeout: 5_000 }).toBe(1);
  if (!isFlag) running.child.kill(by as NodeJS.Signals);
  return running.ended;
}

/** The provider answers what it was asked, and whatever it is asked from now on. */
function answerAll(): void {
  provider.answers = [said('Once')];
  for (const response of open.splice(0)) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(said('Once').body));
  }
}

/** The commands that were advised, word for word. */
function advisedIn(stderr: string): string[] {
  return [
    ...stderr.matchAll(
      /promptrun (?:runs|run|prompts|versions|login|doctor|account)\b(?:(?!, or )[^;\n])*/gu,
    ),
  ].map(([line]) => line.trim());
}

/** A `serve` of this machine, on which `ask` is published, is the configured service from now on. */
async function hosted(window = '120s'): Promise<string> {
  const service = startCommand(
    ['serve', '--port', '0', '--prompts', 'prompts', '--sync-window', window, '--grace', '0s'],
    { home, env },
  );
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  const [, baseUrl = ''] = await service.untilStdout(/^listening on (\S+)$/mu);
  const [, key = ''] = await service.untilStdout(/^key: (\S+)$/mu);
  env = {
    PROMPTRUN_BASE_URL: baseUrl,
    PROMPTRUN_API_KEY: key,
    PROMPTRUN_DATA_DIR: path.join(home, 'own-data'),
  };
  return key;
}

/** A service is configured that can't be reached, and has no key. */
function elsewhere(): void {
  env['PROMPTRUN_BASE_URL'] = 'https://prompts.example.invalid/v1';
}

const RUN = 'run ask.prompt -i who=Ada';
const RERUN_HERE = /^promptrun runs rerun \S+ --profile local$/;
const WAIT_FOR_ID = /^promptrun runs wait [0-9a-f-]{36}$/;
const HOSTED_RUN = 'run ask -i who=Ada';

const cases: {
  name: string;
  /** What the environment is; this machine's own service by default. */
  where?: () => unknown;
  bring: () => Promise<CommandOutcome>;
  code: number;
  advises: RegExp;
  /** What the advised command ends with; 0 by default. */
  ends?: number;
  stdin?: () => string;
  /** What works from then on. */
  afterwards?: readonly string[];
}[] = [
  ...(
    [
      [RUN, 'SIGINT', elsewhere, 130, RERUN_HERE],
      [RUN, 'SIGTERM', elsewhere, 143, RERUN_HERE],
      [RUN, 'SIGHUP', elsewhere, 143, RERUN_HERE],
      [RUN, '--timeout 2s', elsewhere, 6, RERUN_HERE],
      [HOSTED_RUN, 'SIGINT', hosted, 130, /^promptrun runs wait --last$/],
      [HOSTED_RUN, '--timeout 2s', hosted, 6, WAIT_FOR_ID],
      [HOSTED_RUN, '--timeout 1s', () => hosted('50ms'), 6, WAIT_FOR_ID],
    ] as const
  ).map(([line, by, where, code, advises]) => ({
    name: `${line} stopped by ${by}`,
    where,
    bring: () => stopped(line, by),
    code,
    advises,
  })),
  {
    name: 'a creation that SIGTERM left unanswered, on a serve named by --base-url',
    bring: async () => {
      await hosted();
      const { PROMPTRUN_BASE_URL: baseUrl = '', ...others } = env;
      env = others;
      return stopped(`${HOSTED_RUN} --base-url ${baseUrl}`, 'SIGTERM');
    },
    code: 143,
    advises: /^promptrun runs wait --last --base-url \S+$/,
  },
  ...['get', 'save'].map(verb => ({
    name: `runs ${verb} --last of a run that goes on`,
    bring: async () => {
      expect((await command([...RUN.split(' '), '--no-wait'])).code).toBe(0);
      return command(['runs', verb, '--last']);
    },
    code: verb === 'get' ? 0 : 2,
    advises: verb === 'get' ? /^promptrun runs wait \S+$/ : /^promptrun runs wait \S+ --save$/,
  })),
  ...(
    [
      [['run', 'nothing-of-the-kind'], 4, /^promptrun prompts list$/],
      [['run', `hello@${VERSION_ID}`], 4, /^promptrun versions list hello$/],
      [['runs', 'get', 'abcdef12'], 4, /^promptrun runs list$/],
      [['runs', 'wait', '--last'], 4, /^promptrun runs list$/],
      [['runs', 'wait'], 2, /^promptrun runs list$/],
      [['run', 'hello', '--no-validate'], 2, /^promptrun prompts get hello$/],
    ] as const
  ).map(([words, code, advises]) => ({
    name: words.join(' '),
    bring: () => command(words),
    code,
    advises,
  })),
  {
    name: 'no key for the service',
    bring: async () => {
      key = await hosted();
      delete env['PROMPTRUN_API_KEY'];
      return command(['runs', 'list']);
    },
    code: 3,
    advises: /^promptrun login --base-url \S+$/,
    stdin: () => key,
    afterwards: ['runs', 'list'],
  },
  {
    name: 'a service that is not there',
    bring: async () => {
      const service = await scriptedServiceOf([]);
      await service.close();
      env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'key' };
      return command(['runs', 'list', '--timeout', '20s']);
    },
    code: 1,
    advises: /^promptrun doctor$/,
    ends: 1,
  },
];
let key = '';

it.each(cases)('$name: what is advised leads there', async one => {
  const { where, bring, code, advises, ends = 0, stdin, afterwards } = one;
  await where?.();
  const outcome = await bring();
  expect(outcome).toMatchObject({ code });
  const advised = advisedIn(outcome.stderr);
  expect(advised).not.toHaveLength(0);
  expect(advised.filter(line => !advises.test(line))).toEqual([]);
  answerAll();
  for (const line of advised) {
    const { code: ended, stderr } = await command(wordsOf(line), stdin?.());
    expect({ line, ended, stderr }).toMatchObject({ line, ended: ends });
  }
  if (afterwards !== undefined) expect(await command(afterwards)).toMatchObject({ code: 0 });
});

it.each([
  { line: 'batch ask.prompt --from rows.csv --out out.jsonl', by: '--timeout 2s' },
  { line: 'test ask.test.yaml', by: '--timeout 2s' },
  { line: 'test ask.test.yaml', by: 'SIGINT' },
])('$line, stopped by $by: the same command with what is advised goes on', async ({ line, by }) => {
  elsewhere();
  const outcome = await stopped(line, by);
  expect(outcome).toMatchObject({ code: by === 'SIGINT' ? 130 : 6 });
  expect(outcome.stderr).toMatch(/^Go on with the same command and --resume/m);
  answerAll();
  const words = line.split(' ');
  const again = await command([...words, '--resume']);
  // The run was stopped, and may have been paid for: it is not made again unasked.
  expect(again).toMatchObject({ code: 5 });
  const [retry = '--failed'] = /--resume --retry-failed$/mu.exec(again.stderr) ?? [];
  expect(await command([...words, ...retry.split(' ')])).toMatchObject({ code: 0 });
});

it.each([
  { what: 'no run that fits', rows: [], advises: /^promptrun runs list --since \S+$/ },
  { what: 'a run that fits', rows: [RUN_ID], advises: new RegExp(`^promptrun runs wait ${RUN_ID}$`) },
])('a lost answer and $what: what is advised leads there', async ({ rows, advises }) => {
  const run = { runId: RUN_ID, promptVersionId: VERSION_ID, runStatus: 'succeeded', tokens: 1 };
  const listed = (): object =>
    success({
      rows: rows.map(() => ({ ...run, createdAt: new Date().toISOString() })),
      hasMore: false,
    });
  const service = await scriptedServiceOf(
    [
      { expect: { method: 'POST', path: '/runs' }, answer: 'reset-after-body' },
      { expect: { method: 'GET', path: '/runs' }, answer: listed, times: 'any' },
      { expect: { path: `/runs/${RUN_ID}` }, answer: success({ ...run, outputs: [] }), times: 'any' },
    ],
    { ordered: false },
  );
  onTestFinished(() => service.close());
  env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'key' };
  for (const words of [
    ['run', VERSION_ID],
    ['runs', 'wait', '--last'],
  ]) {
    const outcome = await command(words);
    expect(outcome).toMatchObject({ code: 1 });
    const [line = '', ...others] = advisedIn(outcome.stderr);
    expect(others).toEqual([]);
    expect(line).toMatch(advises);
    expect(await command(wordsOf(line))).toMatchObject({ code: 0 });
  }
  service.verify();
});
