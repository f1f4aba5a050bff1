import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ECHO } from '../../../support/project.ts';

/** Runs git as a user with a name, with no other configuration, and gives what it prints. */
export function git(folder: string, ...args: string[]): string {
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

export function promptSaying(text: string): string {
  return ECHO.replace('{{text}}', text);
}

/**
 * Makes a repository whose `x.prompt` says "first" in its first commit and "second" in its second.
 */
export function repository(folder: string): string {
  mkdirSync(folder, { recursive: true });

  // Without a template, which holds a dozen examples of hooks.
  git(folder, 'init', '-q', '--template=', '-b', 'main');

  for (const text of ['first', 'second']) {
    writeFileSync(
      path.join(folder, 'x.prompt'),
      promptSaying(text).replace('  schema:\n    text: string\n', ''),
    );
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', text);
  }

  return folder;
}

/** Writes a program that leaves a file behind when it is started. */
export function program(file: string, marker: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho "$0 $*" >> '${marker}'\n`);
  chmodSync(file, 0o755);
  return file;
}
