import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { COMMAND, runCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { buildCommandEnvironment } from '../support/environment.ts';

/** Returns the flags of a Node that runs a script first, which takes something away. */
function preloadArgs(script: string): string[] {
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}

it.each([
  {
    where: 'as a user without a home or an entry in the list of users',
    script: `import os, { userInfo } from 'node:os';
     import { syncBuiltinESMExports } from 'node:module';
     os.homedir = os.userInfo = () => { throw new Error('no such user'); };
     syncBuiltinESMExports();`,
  },
  {
    where: "with Yarn's files, whose handles can't be synchronized",
    script: `import { open } from 'node:fs/promises';
     const handle = await open(process.execPath);
     for (const name of ['sync', 'datasync']) Object.getPrototypeOf(handle)[name] = undefined;
     await handle.close();`,
  },
])('the command runs $where', async ({ script }) => {
  const home = createTemporaryDirectory();
  const options = { home, nodeArgs: preloadArgs(script), env: { HOME: '' } };
  const run = await runCommand(['run', 'postcard', '-i', 'place=Oslo', '--save', '-'], options);
  expect(run.stderr).toEqual(expect.not.stringContaining('error'));
  expect(run.stdoutBytes.subarray(1, 4).toString()).toBe('PNG');
  expect(run.code).toBe(0);
});

function hasBun(): boolean {
  try {
    execFileSync('bun', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

it.runIf(hasBun())('the command runs on Bun', () => {
  const home = createTemporaryDirectory();
  const runOnBun = (...args: string[]): string =>
    execFileSync('bun', ['--bun', COMMAND, ...args], {
      cwd: home,
      env: buildCommandEnvironment(home),
    }).toString();

  const url = runOnBun('run', 'postcard', '-i', 'place=Oslo').trim();
  expect(url).toMatch(/^file:.*\.png$/u);
  expect(runOnBun('runs', 'list', '--query', '[].runStatus | [0]').trim()).toBe('succeeded');
});
