import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { createTemporaryDirectory } from '../support/context.ts';

const PROMPTRUN = path.join(import.meta.dirname, '../../bin/promptrun.js');

/** Tests a prompt with a case for each program, and returns what the built command printed. */
function testWithPrograms(...commands: readonly string[]): {
  status: number | null;
  stdout: string;
  stderr: string;
} {
  const home = createTemporaryDirectory();
  writeFileSync(
    path.join(home, 'e.prompt'),
    '---\nmodel: echo\ninput: { schema: { text: string } }\n---\n{{text}}\n',
  );
  const cases = commands.map(
    command => `  - { inputs: { text: a }, expect: [{ command: ${command} }] }\n`,
  );
  writeFileSync(path.join(home, 'e.test.yaml'), `cases:\n${cases.join('')}`);
  const dirs = ['DATA', 'STATE', 'CONFIG'].map(
    name => [`PROMPTRUN_${name}_DIR`, path.join(home, name)] as const,
  );
  for (const [, directory] of dirs) mkdirSync(directory, { mode: 0o700 });

  return spawnSync(process.execPath, [PROMPTRUN, 'test', '--allow-commands'], {
    cwd: home,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      OPENAI_API_KEY: 'a-secret',
      ...Object.fromEntries(dirs),
    },
  });
}

describe.runIf(process.platform === 'linux')('a program that a test file names', () => {
  it('judges the answer by its exit code, sees no key, and leaves nothing running', async () => {
    // They would outlive the test by far, and are found by the id of this process.
    const sleeps = [1, 2].map(number => `sleep ${process.pid}${1000 + number}`);
    const { status, stdout } = testWithPrograms(
      '[grep, a]',
      `"${sleeps[0]} & setsid ${sleeps[1]} & exit 0"`,
      `"! env | grep -q -e OPENAI_API_KEY -e PROMPTRUN_DATA && grep -q '\\"model\\":\\"echo\\"' $PROMPTRUN_CASE"`,
      `"trap '' TERM; echo why; exit 3"`,
      `"yes | head -c 9000000; exit 1"`,
    );

    expect(status).toBe(EXIT.runFailed);
    expect(stdout).toContain('3 passed, 2 failed');
    expect(stdout).toContain('ended with 3\n    + why');
    expect(stdout.match(/^ {4}\+ y$/gmu)).toHaveLength(1000);

    const listRunning = (): string[] =>
      execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
    await expect.poll(() => listRunning().filter(line => sleeps.includes(line))).toEqual([]);
  });

  it('is a fault if it cannot be started', () => {
    const { status, stdout } = testWithPrograms('[./nowhere]');
    expect(stdout).toContain("can't be started");
    expect(status).toBe(EXIT.usage);
  });
});
