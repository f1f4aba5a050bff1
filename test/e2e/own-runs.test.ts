import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Run } from '../../src/wire/index.ts';
import { type CommandOutcome, type RunningCommand, runCommand, startCommand } from '../support/command.ts';
import { temporaryDirectory } from '../support/context.ts';
import { FakeProvider, said } from '../support/fake-provider.ts';

// What a provider is asked is what is paid for: its ledger shows one request for one run, whatever ends the command.

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
  writeFileSync(
    path.join(dataDir, 'models.yaml'),
    `providers: {here: {baseUrl: "${provider.baseUrl}"}}\nmodels: [{model: tiny, modality: text, provider: here}]\n`,
  );
  writeFileSync(path.join(home, 'ask.prompt'), '---\nmodel: tiny\n---\nTell a story of {{who}}');
  env = { PROMPTRUN_DATA_DIR: dataDir };
  open = [];
  provider.reset(response => void open.push(response));
});

const command = (...args: string[]): Promise<CommandOutcome> => runCommand(args, { home, env });
const asked = (): number => provider.asked.length;

/** A run that its provider has been asked for, and does not answer. */
async function askedFor(...flags: string[]): Promise<RunningCommand> {
  const running = startCommand(['run', 'ask.prompt', '-i', 'who=Ada', ...flags], { home, env });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  await expect.poll(asked).toBe(1);
  return running;
}

async function newestRun(): Promise<{ runId: string; runStatus: string }> {
  const { stdout } = await command('runs', 'list', '--json');
  return (JSON.parse(stdout) as { runId: string; runStatus: string }[])[0] ?? { runId: '', runStatus: '' };
}

async function get(runId: string): Promise<Run> {
  const { stdout } = await command('runs', 'get', runId, '--json');
  return JSON.parse(stdout) as Run;
}

/** What else is done on this machine: it starts nothing again. */
async function somethingElse(): Promise<void> {
  expect((await command('run', 'hello', '-i', 'name=Bob')).code).toBe(0);
  const service = startCommand(['serve', '--port', '0'], { home, env });
  await service.untilStdout(/^listening on/m);
  expect((await command('run', 'sandbox')).code).toBe(0);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(0);
}

describe('a run on this machine belongs to its command, which is', () => {
  const stopped = [
    { by: 'Ctrl-C', code: 130, stop: (running: RunningCommand) => running.child.kill('SIGINT') },
    { by: 'SIGTERM', code: 143, stop: (running: RunningCommand) => running.child.kill('SIGTERM') },
    { by: 'SIGHUP', code: 143, stop: (running: RunningCommand) => running.child.kill('SIGHUP') },
    { by: '--timeout', code: 6, flags: ['--timeout', '3s'], stop: () => {} },
  ];

  it.each(stopped)(
    'stopped by $by: it has failed, says so, and is run again by what is advised',
    async ({ by, code, flags = [], stop }) => {
      const running = await askedFor(...flags);
      stop(running);
      const outcome = await running.ended;
      expect(outcome.code).toBe(code);
      expect(outcome.stderr).toContain('may have been paid for');
      await somethingElse();
      expect(asked()).toBe(1);
      const [, advised = ''] = /promptrun (runs rerun \S+)/.exec(outcome.stderr) ?? [];
      const runId = advised.split(' ').at(-1) ?? '';
      const run = await get(runId);
      expect(run.runStatus).toBe('failed');
      expect(run.outputs).toMatchObject([{ type: 'error' }]);
      expect(run.outputs[0]?.data).toContain(`stopped by ${by}`);
      expect(run.outputs[0]?.data).toContain(`promptrun runs rerun ${runId}`);
      provider.reset(said('Once upon a time'));
      expect(await command(...advised.split(' '))).toMatchObject({ code: 0, stdout: 'Once upon a time\n' });
      expect(provider.asked[0]?.text).toContain('a story of Ada');
      expect(asked()).toBe(1);
    },
  );

  it.each(['a command', 'a service'])('killed: %s that reads it next finds it failed', async reader => {
    const running = await askedFor();
    running.child.kill('SIGKILL');
    await running.ended;
    if (reader === 'a service') await somethingElse();
    const listed = await command('runs', 'list', '--status', 'failed', '--json');
    const [row] = JSON.parse(listed.stdout) as { runId: string; outputs: Run['outputs'] }[];
    expect(row?.outputs[0]?.data).toContain(`promptrun runs rerun ${row?.runId}`);
    expect(row?.outputs[0]?.data).toContain('killed');
    await somethingElse();
    expect(asked()).toBe(1);
  });
});

it('a batch that is dropped has failed rows, which only --retry-failed pays for again', async () => {
  writeFileSync(path.join(home, 'rows.csv'), 'who\nAda\n');
  const args = ['batch', 'ask.prompt', '--from', 'rows.csv', '--out', 'out.jsonl'];
  const running = startCommand(args, { home, env });
  await expect.poll(asked).toBe(1);
  running.child.kill('SIGINT');
  await running.untilStderr(/interrupt|again|finish/i);
  // Another signal: the same one at once is taken for the echo of the first by what starts the command.
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(130);
  expect((await command(...args, '--resume')).code).toBe(5);
  expect(asked()).toBe(1);
  provider.reset(said('Once'));
  expect((await command(...args, '--resume', '--retry-failed')).code).toBe(0);
  expect(asked()).toBe(1);
});

describe('with --no-wait the run', () => {
  it('is carried out by a process of its own, whose end runs wait sees', async () => {
    const { stdout, code } = await command('run', 'ask.prompt', '-i', 'who=Ada', '--no-wait');
    expect(code).toBe(0);
    const runId = stdout.trim();
    await expect.poll(asked).toBe(1);
    const waiting = startCommand(['runs', 'wait', runId], { home, env });
    await somethingElse();
    open[0]?.writeHead(200, { 'content-type': 'application/json' });
    open[0]?.end(JSON.stringify(said('Once').body));
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'Once\n' });
    expect(asked()).toBe(1);
  });

  it('is ended by runs cancel, and who waits for it ends with 5', async () => {
    const { stdout } = await command('run', 'ask.prompt', '-i', 'who=Ada', '--no-wait');
    const runId = stdout.trim();
    await expect.poll(asked).toBe(1);
    const waiting = startCommand(['runs', 'wait', runId], { home, env });
    const gone = new Promise(resolve => open[0]?.once('close', resolve));
    expect(await command('runs', 'cancel', runId)).toMatchObject({ code: 0, stdout: '' });
    expect(await waiting.ended).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('cancelled') as string,
    });
    await gone;
    expect(await command('runs', 'cancel', runId, '--json')).toMatchObject({ code: 0 });
    expect(await get(runId)).toMatchObject({
      runStatus: 'failed',
      outputs: [{ type: 'error', data: 'cancelled' }],
    });
  });
});

it('a command whose run is cancelled by another ends with 5', async () => {
  const running = await askedFor();
  const { runId, runStatus } = await newestRun();
  expect(runStatus).toBe('running');
  expect((await command('runs', 'cancel', runId)).code).toBe(0);
  expect(await running.ended).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('cancelled') as string,
  });
  expect(asked()).toBe(1);
});
