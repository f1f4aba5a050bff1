import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { runCommand, startCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { isPosix } from '../support/system.ts';

/** A program that starts another one in its own session, says so, and never ends. */
const HANGS = `
const { spawn } = require('node:child_process');
const forever = 'setInterval(() => {}, 1000)';
const other = spawn(process.execPath, ['-e', forever], { detached: true, stdio: 'ignore' });
require('node:fs').writeFileSync(process.env.STARTED, JSON.stringify([process.pid, other.pid, process.cwd()]));
setInterval(() => {}, 1000);
`;

function createMachine(): {
  home: string;
  env: Record<string, string>;
  started: () => [number, number, string];
} {
  const home = createTemporaryDirectory();
  const started = path.join(home, 'started');
  writeFileSync(path.join(home, 'hangs.cjs'), HANGS);
  const program = [process.execPath, '${here}/hangs.cjs'];
  const models = [{ model: 'hangs', modality: 'text', folder: 'temporary', program }];
  writeFileSync(path.join(home, 'models.yaml'), JSON.stringify({ models }));

  return {
    home,
    env: { STARTED: started },
    started: () => JSON.parse(readFileSync(started, 'utf8')) as [number, number, string],
  };
}

const RUN = ['run', 'hello', '-i', 'name=Ada', '-m', 'hangs', '--models', 'models.yaml'];

describe.skipIf(process.platform !== 'linux')('a program that runs', () => {
  it.runIf(isPosix)(
    'is ended by Ctrl-C with everything that it started, and the run has failed',
    async () => {
      const { home, env, started } = createMachine();
      const running = startCommand(RUN, { home, env });

      await expect.poll(started).toHaveLength(3);

      running.child.kill('SIGINT');
      expect((await running.ended).code).toBe(EXIT.interrupted);

      const [one, other, folder] = started();
      await waitUntilGone(one, other);

      expect(existsSync(folder)).toBe(false);

      const { stdout } = await runCommand(['runs', 'list'], { home });
      expect(stdout).toMatch(/\tfailed\t/);
    },
  );

  it('is ended by the next command if promptrun was killed, and is not started again', async () => {
    const { home, env, started } = createMachine();
    const running = startCommand(RUN, { home, env });

    await expect.poll(started).toHaveLength(3);

    running.child.kill('SIGKILL');
    await running.ended;
    const [one, other, folder] = started();

    expect([isRunning(one), isRunning(other), existsSync(folder)]).toEqual([true, true, true]);

    const { stdout } = await runCommand(['runs', 'list'], { home });
    expect(stdout).toMatch(/\tfailed\t/);

    await waitUntilGone(one, other);
    expect(existsSync(folder)).toBe(false);
    expect(started()).toEqual([one, other, folder]);
    expect(readdirSync(path.join(home, 'data', 'programs'))).toEqual([]);
  });
});

/**
 * Resolves once the processes are gone: one that was killed ends when it is next given a processor.
 */
async function waitUntilGone(...pids: number[]): Promise<void> {
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
