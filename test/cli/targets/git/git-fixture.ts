import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ECHO } from '../../../support/project.ts';

/** Runs git with an identity and no other configuration, and returns its output. */
export function runGit(folder: string, ...args: string[]): string {
  const identity = [
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@example.com',
    '-c',
    'protocol.file.allow=always',
  ];
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...identity, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

export function createPrompt(text: string): string {
  return ECHO.replace('{{text}}', text);
}

/**
 * Creates a repository whose `x.prompt` contains "first" in its first commit and "second" in its
 * second.
 */
export function createRepository(folder: string): string {
  mkdirSync(folder, { recursive: true });

  // Without a template, which holds a dozen examples of hooks.
  runGit(folder, 'init', '-q', '--template=', '-b', 'main');

  for (const text of ['first', 'second']) {
    writeFileSync(
      path.join(folder, 'x.prompt'),
      createPrompt(text).replace('  schema:\n    text: string\n', ''),
    );
    runGit(folder, 'add', '.');
    runGit(folder, 'commit', '-qm', text);
  }

  return folder;
}

/** Writes a program that writes to the file `marker` when it is started. */
export function writeProgram(file: string, marker: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho "$0 $*" >> '${marker}'\n`);
  chmodSync(file, 0o755);
  return file;
}
