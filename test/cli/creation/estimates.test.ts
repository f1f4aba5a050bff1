import { expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService as embedded } from '../../../src/main.ts';
import { type CommandResult, createDirectoryWith, runInProcess } from '../../support/context.ts';
import { createHastyClock } from '../../support/hasty-clock.ts';
import { startServiceForTest } from '../../support/service-for-test.ts';

const FILES = {
  'hello.test.yaml': 'target: hello\ncases:\n  - { inputs: { name: Ada } }\n',
  'judged.test.yaml':
    'target: hello\ncases:\n  - { inputs: { name: Ada }, repeat: 2, expect: [{ rubric: is kind }] }\n',
  'rows.csv': 'name\nAda\nBob\n',
};

const COMMANDS = [
  ['test', 'hello.test.yaml', '--rate', '0'],
  ['compare', 'hello', 'hello', '--from', 'rows.csv', '--rate', '0'],
  ['batch', 'hello', '--from', 'rows.csv', '--out', 'out.jsonl', '--rate', '0'],
  ['run', 'hello', '-i', 'name=Ada'],
];

it.each(COMMANDS)(
  '%s of a slug creates nothing if the listed estimate is above the cap',
  async (...args) => {
    const { env, runs } = await startServiceForTest();
    const home = createDirectoryWith(FILES);
    const run = (...flags: string[]): Promise<CommandResult> =>
      runInProcess([...args, ...flags], { env, home, clock: createHastyClock() });

    expect((await run('--dry-run', '--max-credits', '9')).stderr()).toMatch(
      /about \d credits?(?!, more)/u,
    );

    const dryRun = await run('--dry-run', '--max-credits', '0.5');
    expect(dryRun.stderr()).toMatch(/about \d credits?, more than --max-credits allows/u);

    const { exitCode, stderr } = await run('--max-credits', '0.5');
    expect(exitCode).toBe(EXIT.capReached);
    expect(stderr()).toContain(
      'stopped at --max-credits: 0 of 0.5 credits spent, and the next run is estimated at 1 credit',
    );
    expect(stderr()).toMatch(
      /^(?:To continue, raise the cap: --max-credits 1|To continue, add --resume and --max-credits <more> to the same command\.)$/mu,
    );
    expect(await runs()).toEqual([]);
  },
);

it('a test that stops at the cap advises to resume it, not only to raise the cap', async () => {
  const { env } = await startServiceForTest();
  const home = createDirectoryWith(FILES);
  const { exitCode, stdout, stderr } = await runInProcess(
    ['test', 'hello.test.yaml', '--max-credits', '0.5'],
    { env, home, clock: createHastyClock() },
  );

  expect(stdout()).toContain('0 of 0.5 credits spent');
  expect(exitCode).toBe(EXIT.capReached);
  expect(stdout()).not.toContain('To continue');
  expect(stderr()).toContain(
    'To continue, add --resume and --max-credits <more> to the same command.',
  );
});

it('a batch without --out that stops at the cap warns that its rows would be paid for again', async () => {
  const home = createDirectoryWith(FILES);
  const batch = ['batch', 'hello', '--from', 'rows.csv', '--concurrency', '1'];
  const { exitCode, stdout, stderr } = await runInProcess([...batch, '--max-credits', '1'], {
    home,
    local: embedded,
  });

  expect(stdout().split('\n').length).toBe(2);
  expect(exitCode).toBe(EXIT.capReached);
  expect(stderr()).toContain('the same command pays for all of its rows again');
  expect(stderr()).not.toContain('raise the cap');

  const stoppedAtOnce = await runInProcess([...batch, '--max-credits', '0.5'], {
    home: createDirectoryWith(FILES),
    local: embedded,
  });
  expect(stoppedAtOnce.stderr()).toContain('To continue, raise the cap: --max-credits 1\n');
});

it('a dry run of tests counts their judges', async () => {
  const home = createDirectoryWith(FILES);
  const { stdout, stderr } = await runInProcess(
    ['test', 'judged.test.yaml', '--judge', 'echo', '--dry-run', '--json'],
    { home, local: embedded },
  );
  expect(JSON.parse(stdout())).toMatchObject({ creations: 4, estimate: { cost: 0 } });

  // Credits of the embedded service cost nothing.
  expect(stderr()).toContain('note: 4 creations: about $0.00\n');
});

it('a dry run without a valid test has nothing to pay for', async () => {
  const home = createDirectoryWith({
    ...FILES,
    'wrong.test.yaml': 'target: none.prompt\ncases: [{inputs: {}}]\n',
  });
  const { stderr } = await runInProcess(['test', 'wrong.test.yaml', '--dry-run'], {
    home,
    local: embedded,
  });
  expect(stderr()).toContain('note: 0 creations: nothing to pay for\n');
});

it.each([
  ['run', 'many.prompt'],
  ['batch', 'many.prompt', '--from', 'one.jsonl', '--out', 'out.jsonl'],
  ['test', 'many.test.yaml'],
  ['compare', 'many.prompt', 'many.prompt', '--from', 'one.jsonl'],
])('a dry run of %s refuses a cap that the run itself could not keep', async (...args) => {
  const home = createDirectoryWith({
    'many.prompt': '---\nmodel: priced\nconfig: { best_of: 4 }\n---\nHi',
    'models.yaml': [
      'providers: { here: { baseUrl: http://127.0.0.1:9/v1 } }',
      'models: [{ model: priced, modality: text, provider: here, price: { input: 1, output: 1 } }]',
    ].join('\n'),
    'many.test.yaml': 'cases:\n  - name: one\n',
    'one.jsonl': '{}\n',
  });

  const argv = [...args, '--models', 'models.yaml', '--dry-run', '--max-cost', '1'];
  const { exitCode, stderr } = await runInProcess(argv, { home, local: embedded });
  expect(stderr()).toContain('the option best_of multiplies the cost');
  expect(exitCode).toBe(EXIT.usage);
});

it.each([
  ['', 'about $0.002 (estimated, with 1,000 tokens for each answer)\n'],
  ['config: { maxOutputTokens: 500 }\n', 'about $0.001\n'],
])('a dry run names the assumed length of answers: %j', async (config, forecast) => {
  const home = createDirectoryWith({
    'priced.prompt': `---\nmodel: priced\n${config}---\nHi`,
    'models.yaml': [
      'providers: { here: { baseUrl: http://127.0.0.1:9/v1 } }',
      'models: [{ model: priced, modality: text, provider: here, price: { input: 0, output: 2 } }]',
    ].join('\n'),
  });
  const dryRun = ['run', 'priced.prompt', '--models', 'models.yaml', '--dry-run'];
  expect((await runInProcess(dryRun, { home, local: embedded })).stderr()).toContain(forecast);
});

it('a cap may be of any size', async () => {
  const { env } = await startServiceForTest();
  for (const credits of ['1000000000', '123456789012345678901234567890.5']) {
    const { exitCode } = await runInProcess(
      ['run', 'hello', '-i', 'name=Ada', '--max-credits', credits],
      {
        env,
      },
    );
    expect(exitCode).toBe(0);
  }

  const free = ['run', 'hello', '-i', 'name=Ada', '--max-cost', '1000000000'];
  expect((await runInProcess(free, { local: embedded })).exitCode).toBe(0);
});

it('a comparison that stops at the cap separates rows that never ran from rows that failed', async () => {
  const home = createDirectoryWith(FILES);
  const compare = ['compare', 'hello', 'hello', '--from', 'rows.csv', '--concurrency', '1'];
  const { exitCode, stdout, stderr } = await runInProcess([...compare, '--max-credits', '2'], {
    home,
    local: embedded,
  });

  expect(exitCode).toBe(EXIT.capReached);
  expect(
    stdout()
      .split('\n')
      .slice(0, 2)
      .map(line => line.split('\t')[2]),
  ).toEqual(['same', 'not run']);

  expect(stderr()).toContain('note: 1 same, 0 changed, 0 failed, 1 not run\n');
  expect(stderr()).toContain(
    '; 1 row not done (CAP_REACHED)\nTo continue, add --resume and --max-credits <more> to the same command.\n',
  );

  const json = await runInProcess([...compare, '--max-credits', '2', '--json'], {
    home,
    local: embedded,
  });
  expect(json.stderr()).toMatch(
    /"message":"stopped [^"]*; 1 row not done\. To continue, add --resume and /u,
  );

  // A single model has its line too.
  expect(stderr()).toContain('note:   echo: 2 credits, $0.00\n');
});
