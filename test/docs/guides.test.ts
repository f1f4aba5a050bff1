import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GUIDES } from '../../src/cli/commands/help/help.ts';
import { runCommand } from '../support/command.ts';
import { createTemporaryDirectory, runInProcess } from '../support/context.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const readGuide = (file: string): string => readFileSync(path.join(root, 'docs', file), 'utf8');

describe('help of a guide', () => {
  it.each(Object.entries(GUIDES))('%s ends with %s', async (name, file) => {
    const { stdout, exitCode } = await runInProcess(['help', name]);
    expect(stdout().endsWith(readGuide(file))).toBe(true);
    expect(exitCode).toBe(0);
  });

  it('is found by the name of its file, to which the links of other guides lead', async () => {
    const { stdout, exitCode } = await runInProcess(['help', 'tests-and-recordings']);
    expect(stdout()).toBe(readGuide('tests-and-recordings.md'));
    expect(exitCode).toBe(0);
  });

  it('begins with the help of the command if one has that name', async () => {
    const help = (await runInProcess(['batch', '--help'])).stdout();
    expect((await runInProcess(['help', 'batch'])).stdout()).toBe(
      `${help}\n${readGuide('batch.md')}`,
    );
  });

  it('is printed by the built command', async () => {
    const { stdout, stderr, code } = await runCommand(['help', 'prompt-files']);
    expect(stdout).toBe(readGuide('prompt-files.md'));
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it('is printed from the packed files alone', () => {
    const directory = createTemporaryDirectory();
    for (const entry of ['package.json', 'bin', 'docs', 'dist/main.cjs', 'dist/chunks']) {
      cpSync(path.join(root, entry), path.join(directory, entry), { recursive: true });
    }

    const command = path.join(directory, 'bin', 'promptrun.js');
    const env = { PATH: process.env['PATH'], HOME: directory };
    const stdout = execFileSync(process.execPath, [command, 'help', 'tests'], {
      env,
      encoding: 'utf8',
    });

    expect(stdout).toBe(readGuide('tests-and-recordings.md'));
  });
});
