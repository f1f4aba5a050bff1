import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { runCommand, startCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';

/** A program that starts another one in its own session, writes both ids to a file, and never ends. */
const HANGING_PROGRAM = `
const { spawn } = require('node:child_process');
const forever = 'setInterval(() => {}, 1000)';
const other = spawn(process.execPath, ['-e', forever], { detached: true, stdio: 'ignore' });
require('node:fs').writeFileSync(process.env.STARTED, JSON.stringify({ pids: [process.pid, other.pid], folder: process.cwd() }));
setInterval(() => {}, 1000);
`;

interface StartedProgram {
  readonly pids: readonly number[];
  /** Its temporary working directory. */
  readonly folder: string;
}

/** Creates a home whose model is a program that hangs. */
function createHome(): {
  home: string;
  env: Record<string, string>;
  /** Returns the program that was started; throws if none was. */
  readStarted: () => StartedProgram;
} {
  const home = createTemporaryDirectory();
  const startedPath = path.join(home, 'started');
  writeFileSync(path.join(home, 'hangs.cjs'), HANGING_PROGRAM);
  const program = [process.execPath, '${here}/hangs.cjs'];
  const models = [{ model: 'hangs', modality: 'text', folder: 'temporary', program }];
  writeFileSync(path.join(home, 'models.yaml'), JSON.stringify({ models }));

  return {
    home,
    env: { STARTED: startedPath },
    readStarted: () => JSON.parse(readFileSync(startedPath, 'utf8')) as StartedProgram,
  };
}

const RUN = ['run', 'hello', '-i', 'name=Ada', '-m', 'hangs', '--models', 'models.yaml'];

describe.skipIf(process.platform !== 'linux')('a program that answers a run', () => {
  it('is ended by Ctrl-C with everything that it started, and the run has failed', async () => {
    const { home, env, readStarted } = createHome();
    const running = startCommand(RUN, { home, env });

    await expect.poll(readStarted).toHaveProperty('folder');

    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(EXIT.interrupted);

    const started = readStarted();
    await waitUntilGone(started.pids);

    expect(existsSync(started.folder)).toBe(false);

    const { stdout } = await runCommand(['runs', 'list'], { home });
    expect(stdout).toMatch(/\tfailed\t/);
  });

  it('is ended by the next command if promptrun was killed, and is not started again', async () => {
    const { home, env, readStarted } = createHome();
    const running = startCommand(RUN, { home, env });

    await expect.poll(readStarted).toHaveProperty('folder');

    running.child.kill('SIGKILL');
    await running.ended;
    const started = readStarted();

    expect(started.pids.map(isRunning)).toEqual([true, true]);
    expect(existsSync(started.folder)).toBe(true);

    const { stdout } = await runCommand(['runs', 'list'], { home });
    expect(stdout).toMatch(/\tfailed\t/);

    await waitUntilGone(started.pids);
    expect(existsSync(started.folder)).toBe(false);
    expect(readStarted()).toEqual(started);
    expect(readdirSync(path.join(home, 'data', 'programs'))).toEqual([]);
  });
});

/**
 * Resolves once the processes are gone: one that was killed ends when it is next given a processor.
 */
async function waitUntilGone(pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
}

function isRunning(pid: number): boolean {
  try {
    // One that has ended and that nobody has asked about yet has no command line.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}
