import { expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { startAgent } from '../support/agent.ts';
import type { CommandOutcome } from '../support/command.ts';
import { startCommandHere } from '../support/command-here.ts';
import { splitCommand } from '../support/documents.ts';
import { PaidModel } from '../support/providers/paid-model.ts';
import {
  type Exchange,
  failure,
  startScriptedService,
  success,
} from '../support/scripted-service.ts';
import { isPosix } from '../support/system.ts';

// These tests run each command that a failed one advises, as printed, in the same environment.

const RUN_ID = '0b6e4b54-7d43-4c5f-9b0a-3c1d6f1e2a77';
const OTHER_ID = '0b6e4b54-8e54-4d60-8a1b-4d2e7f2f3b88';
const VERSION_ID = '5f0d8a3e-2b61-4c8e-8f1d-94b7c6a5e210';

const model = new PaidModel({
  'prompts/ask.prompt':
    '---\nmodel: tiny\ninput: {schema: {who: string}}\n---\nTell a story of {{who}}',
  'rows.csv': 'who\nAda\n',
  'ask.test.yaml': 'cases:\n  - {name: a story, inputs: {who: Ada}, expect: [{contains: Once}]}\n',
});

const runLine = (words: readonly string[], stdin = ''): Promise<CommandOutcome> =>
  model.command(words, stdin);

/** Starts a command, and stops it once the provider was asked. */
async function stopCommand(line: string, by: string): Promise<CommandOutcome> {
  if (by === '--timeout') return model.outOfTime(line.split(' '));
  const { raise, ended } = startHere(line.split(' '));
  await expect.poll(model.requestCount).toBe(1);
  raise(by === 'SIGINT' ? 'SIGINT' : 'SIGTERM');
  return ended;
}

/** Starts a command in this process, which gets signals as one of its own does. */
const startHere = (words: readonly string[]): ReturnType<typeof startCommandHere> =>
  startCommandHere(words, { home: model.home, env: model.env });

/** Returns the commands that were advised, word for word. */
function listAdvisedCommands(stderr: string): string[] {
  return [
    ...stderr.matchAll(
      /promptrun (?:runs|run|prompts|versions|login|doctor|account)\b(?:(?!, or )[^;\n])*/gu,
    ),
  ].map(([line]) => line.trim());
}

/** Configures a `serve` of this machine, on which `ask` is published. */
async function configureHosted(window = '120s'): Promise<void> {
  key = await model.serve('--sync-window', window);
}

let key = '';

/** Runs a command as the operator of that `serve`. */
async function asOperator(line: string): Promise<string> {
  const { env } = model;
  model.env = { PROMPTRUN_DATA_DIR: `${model.home}/the-data` };
  const { code, stdout, stderr } = await runLine([...line.split(' '), '--profile', 'local']);
  model.env = env;
  expect({ line, code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}

/** Configures a scripted service. */
async function configureScripted(...script: Exchange[]): Promise<void> {
  const service = await startScriptedService(
    script.map(exchange => ({ times: 'any', ...exchange })),
    { isOrdered: false },
  );
  onTestFinished(() => service.close());
  model.env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'key' };
}

/** Configures a service that can't be reached, without a key. */
function configureUnreachable(): void {
  model.env['PROMPTRUN_BASE_URL'] = 'https://prompts.example.invalid/v1';
}

const RUN = 'run ask.prompt -i who=Ada';
const RERUN_HERE = /^promptrun runs rerun \S+ --profile local$/;
const WAIT_FOR_ID = /^promptrun runs wait [0-9a-f-]{36}$/;
const HOSTED_RUN = 'run ask -i who=Ada';

const cases: {
  name: string;
  /** Returns the environment; default the embedded service. */
  where?: () => unknown;
  bring: () => Promise<CommandOutcome>;
  code: number;
  advises: RegExp;
  /** The exit code of the advised command; default 0. */
  ends?: number;
  stdin?: () => string;
  /** The commands that work from then on. */
  afterwards?: readonly string[];
}[] = [
  ...(
    [
      [RUN, 'SIGINT', configureUnreachable, 130, RERUN_HERE],
      [RUN, 'SIGTERM', configureUnreachable, 143, RERUN_HERE],
      [RUN, 'SIGHUP', configureUnreachable, 143, RERUN_HERE],
      [RUN, '--timeout', configureUnreachable, 6, RERUN_HERE],
      [HOSTED_RUN, 'SIGINT', configureHosted, 130, /^promptrun runs wait --last$/],
      [HOSTED_RUN, '--timeout', configureHosted, 6, WAIT_FOR_ID],
      [HOSTED_RUN, '--timeout', () => configureHosted('50ms'), 6, WAIT_FOR_ID],
    ] as const
  ).map(([line, by, where, code, advises]) => ({
    name: `${line} stopped by ${by}`,
    where,
    bring: () => stopCommand(line, by),
    code,
    advises,
  })),
  {
    name: 'a creation that SIGTERM left unanswered, on a serve named by --base-url',
    bring: async () => {
      await configureHosted();
      const { PROMPTRUN_BASE_URL: baseUrl = '', ...others } = model.env;
      model.env = others;
      return stopCommand(`${HOSTED_RUN} --base-url ${baseUrl}`, 'SIGTERM');
    },
    code: EXIT.terminated,
    advises: /^promptrun runs wait --last --base-url \S+$/,
  },
  ...['get', 'save'].map(verb => ({
    name: `runs ${verb} --last of a run that continues`,
    bring: async () => {
      expect((await runLine([...RUN.split(' '), '--no-wait'])).code).toBe(0);
      return runLine(['runs', verb, '--last']);
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
    bring: () => runLine(words),
    code,
    advises,
  })),
  {
    name: 'no key for the service',
    bring: async () => {
      await configureHosted();
      delete model.env['PROMPTRUN_API_KEY'];
      return runLine(['runs', 'list']);
    },
    code: EXIT.unauthorised,
    advises: /^promptrun login --base-url \S+$/,
    stdin: () => key,
    afterwards: ['runs', 'list'],
  },
  {
    name: 'a run that continues after a 504, until Ctrl-C',
    bring: async () => {
      await configureHosted('50ms');
      const { stderr, raise, ended } = startHere([...HOSTED_RUN.split(' '), '--debug']);
      await expect.poll(stderr).toMatch(/ 504 in/u);
      raise('SIGINT');
      return ended;
    },
    code: EXIT.interrupted,
    advises: WAIT_FOR_ID,
  },
  {
    name: 'a run that `api` was given the id of with a 504',
    bring: async () => {
      await configureHosted('50ms');
      const { stdout } = await runLine(['prompts', 'get', 'ask', '--query', 'promptVersionId']);
      const body = { promptVersionId: stdout.trim(), inputs: { textInputs: { who: 'Ada' } } };
      return runLine(['api', 'POST', '/runs', '--input', '-'], JSON.stringify(body));
    },
    code: EXIT.fault,
    advises: WAIT_FOR_ID,
  },
  {
    name: 'a call of an agent that is cancelled',
    bring: async () => {
      await configureHosted('50ms');
      const agent = await startAgent([], { home: model.home, env: model.env });
      const cancel = new AbortController();
      const call = agent.call(
        'run_prompt',
        { prompt: 'ask', inputs: { who: 'Ada' } },
        {
          signal: cancel.signal,
          onprogress: ({ message = '' }) => /run [\da-f-]{36}/u.test(message) && cancel.abort(),
        },
      );

      await expect(call).rejects.toThrow();
      await expect.poll(agent.stderr).toContain('promptrun');

      return { code: 0, stderr: agent.stderr() } as CommandOutcome;
    },
    code: 0,
    advises: WAIT_FOR_ID,
  },
  ...['get', 'show', 'rerun'].map(verb => ({
    name: `runs ${verb} of a run of another service`,
    bring: async () => {
      await configureHosted();
      const { stdout } = await runLine(
        'run hello -i name=Ada --profile local --no-wait'.split(' '),
      );
      return runLine(['runs', verb, verb === 'show' ? stdout.slice(0, 8) : stdout.trim()]);
    },
    code: EXIT.notFound,
    advises: new RegExp(`^promptrun runs ${verb} [0-9a-f-]{36} --profile local$`),
  })),
  {
    name: 'a stored key that was revoked',
    bring: async () => {
      await configureHosted();
      const revoked = (await asOperator('keys create --user bob')).trim();
      const baseUrl = model.env['PROMPTRUN_BASE_URL'] ?? '';
      delete model.env['PROMPTRUN_API_KEY'];
      delete model.env['PROMPTRUN_BASE_URL'];
      await runLine(['login', '--profile', 'work', '--base-url', baseUrl], revoked);
      await runLine(['profile', 'use', 'work']);
      const keys = JSON.parse(await asOperator('keys list --json')) as {
        id: string;
        user: string;
      }[];
      await asOperator(`keys revoke ${keys.find(({ user }) => user === 'bob')?.id}`);

      return runLine(['runs', 'list']);
    },
    code: EXIT.unauthorised,
    advises: /^promptrun login --profile work$/,
    stdin: () => key,
    afterwards: ['runs', 'list'],
  },
  {
    name: 'too few credits',
    where: configureHosted,
    bring: async () => {
      await asOperator('users set local --credits 0');
      return runLine(HOSTED_RUN.split(' '));
    },
    code: EXIT.unauthorised,
    advises: /^promptrun account$/,
  },
  {
    name: 'no plan, which `account` says in its turn',
    where: configureHosted,
    bring: async () => {
      await asOperator('users set local --plan none');
      return runLine(HOSTED_RUN.split(' '));
    },
    code: EXIT.unauthorised,
    advises: /^promptrun account$/,
    ends: 3,
  },
  {
    name: 'a refused key of one of two services',
    bring: async () => {
      await configureScripted({ answer: failure(402, 'PAYMENT_REQUIRED_ERROR', 'no plan') });
      return runLine(['compare', 'ask', 'ask.prompt', '--from', 'rows.csv']);
    },
    code: EXIT.unauthorised,
    advises: /^promptrun account$/,
    ends: 3,
  },
  {
    name: 'a service that is not there',
    bring: async () => {
      // The port of a server that has ended may be given to the next one.
      model.env = { PROMPTRUN_BASE_URL: 'http://127.0.0.1:9', PROMPTRUN_API_KEY: 'key' };
      return runLine(['runs', 'list', '--timeout', '20s']);
    },
    code: EXIT.fault,
    advises: /^promptrun doctor$/,
    ends: 1,
  },
];

it.each(isPosix ? cases : cases.filter(({ name }) => !/SIG|Ctrl-C/.test(name)))(
  '$name: the advised command works',
  async one => {
    const { where, bring, code, advises, ends = 0, stdin, afterwards } = one;
    await where?.();
    const outcome = await bring();

    expect(outcome).toMatchObject({ code });

    const advised = listAdvisedCommands(outcome.stderr);
    expect(advised).not.toHaveLength(0);
    expect(advised.filter(line => !advises.test(line))).toEqual([]);

    model.answerAll();

    for (const line of advised) {
      const { code: ended, stderr } = await runLine(splitCommand(line), stdin?.());
      expect({ line, ended, stderr }).toMatchObject({ line, ended: ends });
    }

    if (afterwards !== undefined) expect(await runLine(afterwards)).toMatchObject({ code: 0 });
  },
);

it('batch ask.prompt, stopped by --timeout: the same command with the advised flags runs the failed row', async () => {
  configureUnreachable();
  const line = 'batch ask.prompt --from rows.csv --out out.jsonl';
  const outcome = await stopCommand(line, '--timeout');

  expect(outcome).toMatchObject({ code: EXIT.waitTimeout });

  // Both that and the flags below would pay for the row.
  expect(outcome.stderr).not.toContain('runs rerun');

  const [, retry = ''] = /^Run the failed ones again with: (.+)$/mu.exec(outcome.stderr) ?? [];
  model.answerAll();

  expect(await runLine([...line.split(' '), ...retry.split(' ')])).toMatchObject({ code: 0 });
});

/** The ways to stop a command, each with its exit code. */
const STOPS: [string, number][] = [
  ['--timeout', EXIT.waitTimeout],
  ...(isPosix ? ([['SIGINT', EXIT.interrupted]] satisfies [string, number][]) : []),
];

it.each(STOPS)(
  'test ask.test.yaml, stopped by %s: the same command with the advised flags resumes',
  async (by, exitCode) => {
    configureUnreachable();
    const outcome = await stopCommand('test ask.test.yaml', by);

    expect(outcome).toMatchObject({ code: exitCode });
    expect(outcome.stderr).toMatch(/^To continue, add --resume to the same command/m);

    model.answerAll();
    const words = ['test', 'ask.test.yaml'];
    const again = await runLine([...words, '--resume']);

    // The run was stopped, and may have been paid for: it is not made again unasked.
    expect(again).toMatchObject({ code: EXIT.runFailed });
    expect(again.stdout + again.stderr).not.toContain('runs rerun');
    expect(again.stderr).toContain(
      'note: the runs of 1 case were stopped; --failed runs them again\n',
    );
    expect(await runLine([...words, '--failed'])).toMatchObject({ code: 0 });
  },
);

it.each(STOPS)(
  'compare, stopped by %s: the same command with the advised flags makes the runs again',
  async (by, exitCode) => {
    configureUnreachable();
    const line = 'compare ask.prompt ask.prompt --from rows.csv --fail-on failed --concurrency 1';
    const outcome = await stopCommand(line, by);

    expect(outcome).toMatchObject({ code: exitCode });
    expect(outcome.stderr).toMatch(/^To continue, add --resume to the same command/m);

    model.answerAll();
    const words = line.split(' ');
    const again = await runLine([...words, '--resume']);

    expect(again).toMatchObject({ code: EXIT.runFailed });
    expect(again.stderr).not.toContain('runs rerun');

    const [retry = ''] = /--resume --retry-failed(?= makes)/u.exec(again.stderr) ?? [];
    expect(await runLine([...words, ...retry.split(' ')])).toMatchObject({ code: 0 });
  },
);

it.each([
  { what: 'no run that fits', rows: [], advises: [/^promptrun runs list --since \S+$/] },
  {
    what: 'a run that fits',
    rows: [RUN_ID],
    advises: [new RegExp(`^promptrun runs wait ${RUN_ID}$`)],
  },
  {
    what: 'two runs that fit',
    rows: [RUN_ID, OTHER_ID],
    advises: [RUN_ID, OTHER_ID].map(id => new RegExp(`^promptrun runs wait ${id}$`)),
  },
])('a lost answer and $what: the advised command works', async ({ rows, advises }) => {
  const run = { promptVersionId: VERSION_ID, runStatus: 'succeeded', tokens: 1 };
  const listedAnswer = (): object =>
    success({
      rows: rows.map(runId => ({ ...run, runId, createdAt: new Date().toISOString() })),
      hasMore: false,
    });

  await configureScripted(
    { expect: { method: 'POST', path: '/runs' }, answer: 'reset-after-body', times: 1 },
    { expect: { method: 'GET', path: '/runs' }, answer: listedAnswer },
    ...[RUN_ID, OTHER_ID].map(runId => ({
      expect: { path: `/runs/${runId}` },
      answer: success({ ...run, runId, outputs: [] }),
    })),
  );

  for (const words of [
    ['run', VERSION_ID],
    ['runs', 'wait', '--last'],
  ]) {
    const outcome = await runLine(words);
    expect(outcome).toMatchObject({ code: EXIT.fault });
    const lines = listAdvisedCommands(outcome.stderr);
    expect(lines).toEqual(advises.map(wanted => expect.stringMatching(wanted) as string));
    for (const line of lines) expect(await runLine(splitCommand(line))).toMatchObject({ code: 0 });
  }

  expect((await runLine(['runs', 'journal'])).stdout).toContain('in doubt');
});

it('several runs that begin alike: each of the ids that are named can be asked for', async () => {
  const run = { promptVersionId: VERSION_ID, runStatus: 'succeeded', tokens: 1, outputs: [] };
  const ids = [RUN_ID, OTHER_ID];
  await configureScripted(
    {
      expect: { method: 'GET', path: '/runs' },
      answer: success({ rows: ids.map(runId => ({ ...run, runId })), hasMore: false }),
    },
    ...ids.map(runId => ({
      expect: { path: `/runs/${runId}` },
      answer: success({ ...run, runId }),
    })),
  );

  const { code, stderr } = await runLine(['runs', 'get', RUN_ID.slice(0, 8)]);
  expect({ code, stderr }).toMatchObject({
    code: EXIT.usage,
    stderr: expect.stringContaining(ids.join(', ')) as string,
  });

  for (const id of ids) expect(await runLine(['runs', 'get', id])).toMatchObject({ code: 0 });
});

it.each([
  ['batch ask.prompt --from rows.csv --out out.jsonl', '--max-cost', () => {}],
  ['batch ask --from rows.csv --out out.jsonl', '--max-credits', configureHosted],
  ['test ask.test.yaml', '--max-cost', configureUnreachable],
  ['test ask.test.yaml', '--max-credits', configureUnreachable],
] as const)(
  '%s stopped at %s: the same command with the advised flags resumes',
  async (line, flag, where) => {
    model.answerAll();
    await where();
    const outcome = await runLine([...line.split(' '), flag, '0']);

    expect(outcome).toMatchObject({ code: EXIT.capReached });

    const [, advised = ''] =
      /^To continue, add (--resume and \S+ <more>) to the same command\.$/mu.exec(outcome.stderr) ??
      [];
    const more = advised.replace('and ', '').replace('<more>', '10');

    expect(await runLine([...line.split(' '), ...more.split(' ')])).toMatchObject({ code: 0 });
  },
);

it.runIf(isPosix)(
  'a creation in doubt is in `runs journal` until the advised command settles it',
  async () => {
    await configureHosted();
    const outcome = await stopCommand(HOSTED_RUN, 'SIGINT');
    expect((await runLine(['runs', 'journal'])).stdout).toContain('in doubt');
    model.answerAll();
    const [line = ''] = listAdvisedCommands(outcome.stderr);
    expect(await runLine(splitCommand(line))).toMatchObject({ code: 0 });
    expect((await runLine(['runs', 'journal'])).stdout).not.toContain('in doubt');
  },
);
