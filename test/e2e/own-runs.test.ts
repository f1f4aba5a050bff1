import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import type { Run } from '../../src/wire/index.ts';
import { type CommandOutcome, type RunningCommand, runCommand } from '../support/command.ts';
import { serveHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { copyCommand } from '../support/copied-command.ts';
import { chatAnswer } from '../support/providers/fake-provider.ts';
import { PaidModel } from '../support/providers/paid-model.ts';
import { isPosix } from '../support/system.ts';

// Each request to a provider is paid for: its ledger shows one request for one run, whatever ends
// the command.

const model = new PaidModel({ 'rows.csv': 'who\nAda\n' });
const { requestCount } = model;

const runLine = (...args: string[]): Promise<CommandOutcome> => model.command(args);

const RUN = ['run', 'ask.prompt', '-i', 'who=Ada'];

/** Starts a run whose provider was asked, and does not answer. */
const startRun = (): Promise<RunningCommand> => model.startAsking(RUN);

async function signalCommand(signal: NodeJS.Signals): Promise<CommandOutcome> {
  const running = await startRun();
  running.child.kill(signal);
  return running.ended;
}

async function findNewestRun(): Promise<{ runId: string; runStatus: string }> {
  const { stdout } = await runLine('runs', 'list', '--json');
  return (
    (JSON.parse(stdout) as { runId: string; runStatus: string }[])[0] ?? {
      runId: '',
      runStatus: '',
    }
  );
}

async function getRun(runId: string): Promise<Run> {
  const { stdout } = await runLine('runs', 'get', runId, '--json');
  return JSON.parse(stdout) as Run;
}

/** Runs another command on this machine, which must start nothing again. */
async function runOtherCommands(): Promise<void> {
  expect((await runLine('run', 'hello', '-i', 'name=Bob')).code).toBe(0);
  const service = await serveHere([], { home: model.home, env: model.env });
  expect((await runLine('run', 'sandbox')).code).toBe(0);
  expect(await service.stop()).toBe(0);
}

describe('a run on this machine belongs to its command:', () => {
  const stopped = [
    { by: 'Ctrl-C', code: EXIT.interrupted, stop: () => signalCommand('SIGINT') },
    { by: 'SIGTERM', code: EXIT.terminated, stop: () => signalCommand('SIGTERM') },
    { by: 'SIGHUP', code: EXIT.terminated, stop: () => signalCommand('SIGHUP') },
    { by: '--timeout', code: EXIT.waitTimeout, stop: () => model.outOfTime(RUN) },
  ];

  it.runIf(isPosix).each(stopped)(
    'if that is stopped by $by, the run has failed, and the advised command runs it again',
    async ({ by, code, stop }) => {
      const outcome = await stop();
      expect(outcome.code).toBe(code);
      expect(outcome.stderr).toContain('may have been paid for');

      await runOtherCommands();
      expect(requestCount()).toBe(1);

      const [, advised = ''] = /promptrun (runs rerun \S+)/.exec(outcome.stderr) ?? [];
      const runId = advised.split(' ').at(-1) ?? '';
      const run = await getRun(runId);

      expect(run.runStatus).toBe('failed');
      expect(run.outputs).toMatchObject([{ type: 'error' }]);
      expect(run.outputs[0]?.data).toContain(`stopped by ${by}`);
      expect(run.outputs[0]?.data).toContain(`promptrun runs rerun ${runId}`);

      model.provider.reset(chatAnswer('Once upon a time'));
      expect(await runLine(...advised.split(' '))).toMatchObject({
        code: 0,
        stdout: 'Once upon a time\n',
      });
      expect(model.provider.requests[0]?.text).toContain('a story of Ada');
      expect(requestCount()).toBe(1);
    },
  );

  it.each(['a command', 'a service'])(
    'if that is killed, %s that reads the run next finds it failed',
    async reader => {
      const running = await startRun();
      running.child.kill('SIGKILL');
      await running.ended;
      if (reader === 'a service') await runOtherCommands();
      const listed = await runLine('runs', 'list', '--status', 'failed', '--json');
      const [row] = JSON.parse(listed.stdout) as { runId: string; outputs: Run['outputs'] }[];

      expect(row?.outputs[0]?.data).toContain(`promptrun runs rerun ${row?.runId}`);
      expect(row?.outputs[0]?.data).toContain('killed');

      await runOtherCommands();
      expect(requestCount()).toBe(1);
    },
  );
});

it.runIf(isPosix)(
  'a batch that is dropped has failed rows, which only --retry-failed pays for again',
  async () => {
    const args = ['batch', 'ask.prompt', '--from', 'rows.csv', '--out', 'out.jsonl'];
    const running = await model.startAsking(args);
    running.child.kill('SIGINT');
    await running.untilStderr(/interrupt|again|finish/i);

    // Another signal: the same one at once is taken for the echo of the first by what starts the
    // command.
    running.child.kill('SIGTERM');
    const { code, stderr } = await running.ended;

    expect(code).toBe(EXIT.interrupted);
    expect(stderr).toContain('0 of 1 rows succeeded, 1 failed');
    expect(stderr).toContain('1 run took');
    expect(stderr).not.toContain('doubt');

    const [line = ''] = readFileSync(path.join(model.home, 'out.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(line)).toMatchObject({ row: 1, runStatus: 'failed' });
    expect((await runLine(...args, '--resume')).code).toBe(EXIT.runFailed);
    expect(requestCount()).toBe(1);

    model.provider.reset(chatAnswer('Once'));
    expect((await runLine(...args, '--resume', '--retry-failed')).code).toBe(0);
    expect(requestCount()).toBe(1);
  },
);

describe('with --no-wait the run', () => {
  it('fails and says why if its process ends before it has begun', async () => {
    const copy = createTemporaryDirectory();
    const command = copyCommand(copy);
    writeFileSync(path.join(copy, 'dist/run-process.cjs'), 'process.exit(3);\n');
    const { code, stdout, stderr } = await runCommand(
      ['run', 'hello', '-i', 'name=Ada', '--no-wait'],
      {
        command,
      },
    );

    expect(stdout).toBe('');
    expect(code).toBe(EXIT.fault);
    expect(stderr).toContain(
      'error: no run was made: the process for the run ended before it began (exit code 3)',
    );
    expect(stderr).not.toContain('answer');
    expect(stderr).not.toMatch(/^ {4}at /mu);
  });

  it('is carried out by a separate process, whose end runs wait sees', async () => {
    const { stdout, code } = await runLine('run', 'ask.prompt', '-i', 'who=Ada', '--no-wait');
    expect(code).toBe(0);

    const runId = stdout.trim();
    await expect.poll(requestCount).toBe(1);

    const waiter = model.start(['runs', 'wait', runId]);
    await runOtherCommands();
    model.answerAll();

    expect(await waiter.ended).toMatchObject({ code: 0, stdout: 'Once\n' });
    expect(requestCount()).toBe(1);
  });

  it('is ended by runs cancel, and who waits for it ends with 5', async () => {
    const { stdout } = await runLine('run', 'ask.prompt', '-i', 'who=Ada', '--no-wait');
    const runId = stdout.trim();

    await expect.poll(requestCount).toBe(1);

    const waiter = model.start(['runs', 'wait', runId]);
    const gone = new Promise(resolve => model.open[0]?.once('close', resolve));

    expect(await runLine('runs', 'cancel', runId)).toMatchObject({ code: 0, stdout: '' });
    expect(await waiter.ended).toMatchObject({
      code: EXIT.runFailed,
      stderr: expect.stringContaining('cancelled') as string,
    });

    await gone;
    expect(await runLine('runs', 'cancel', runId)).toMatchObject({
      code: 0,
      stderr: `Run ${runId} has already ended: failed.\n`,
    });
    expect(await getRun(runId)).toMatchObject({
      runStatus: 'failed',
      outputs: [{ type: 'error', data: 'cancelled' }],
    });
  });
});

it.each([
  [[], 0, 'not a public address'],
  [['--allow-private'], 1, "can't be reached"],
] as const)(
  'a picture at a private address is looked at with --no-wait and %j %i times',
  async (flags, times, why) => {
    let connections = 0;
    const server = createServer(socket => {
      connections += 1;
      socket.destroy();
    });
    onTestFinished(() => void server.close());
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const picture = `picture=https://127.0.0.1:${port}/a.png`;
    const { code, stderr } = await runLine('run', 'describe', '-i', picture, '--no-wait', ...flags);

    expect(connections).toEqual(times);
    expect(stderr).toContain(why);
    expect(code).toBe(EXIT.usage);
  },
);

it('a command whose run is cancelled by another ends with 5', async () => {
  const running = await startRun();
  const { runId, runStatus } = await findNewestRun();

  expect(runStatus).toBe('running');
  expect((await runLine('runs', 'cancel', runId)).code).toBe(0);
  expect(await running.ended).toMatchObject({
    code: EXIT.runFailed,
    stderr: expect.stringContaining('cancelled') as string,
  });
  expect(requestCount()).toBe(1);
});
