import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../support/context.ts';
import { hasGit, isPosix } from '../../support/system.ts';
import { runGit } from './git/git-fixture.ts';

/** Creates a home directory with the prompt file `note.prompt`. */
function createHomeWithNote(): string {
  const home = createTemporaryDirectory();
  writeFileSync(path.join(home, 'note.prompt'), NOTE);
  return home;
}

const NOTE = 'model: echo\n---\nHi {{name}}\n';

describe('an unknown name', () => {
  it.runIf(hasGit).each([
    ['note', 'the file note.prompt'],
    ['note@HEAD', 'note.prompt@git:HEAD'],
    ['note.prompt@HEAD', 'note.prompt@git:HEAD'],
    ['note@production', 'the file note.prompt'],
  ])('%s gets a hint with the file that was probably meant', async (target, intendedFile) => {
    const home = createHomeWithNote();
    runGit(home, 'init', '-q');
    runGit(home, 'commit', '-qm', 'Begin', '--allow-empty');
    const { exitCode, stderr } = await runInProcess(['run', target], { home, local: localService });
    expect(exitCode).toBe(EXIT.notFound);
    expect(stderr()).toContain(`\nDid you mean ${intendedFile}?\n`);
    expect(stderr()).not.toContain('neither does a file');
  });

  it.each([
    ['prompts', 'get'],
    ['prompts', 'render'],
    ['versions', 'list'],
  ])('gets the hint from %s %s, too', async (...commandWords) => {
    const home = createHomeWithNote();
    const { exitCode, stderr } = await runInProcess([...commandWords, 'note'], {
      home,
      local: localService,
    });
    expect(exitCode).toBe(EXIT.notFound);
    expect(stderr()).toContain('\nDid you mean the file note.prompt?\n');
  });

  it.each(['ntoe.prompt', './noet.prompt', 'notes'])(
    '%s gets a hint with the file of a similar name',
    async target => {
      const home = createHomeWithNote();
      const { exitCode, stderr } = await runInProcess(['run', target], {
        home,
        local: localService,
      });
      expect(exitCode).toBe(EXIT.notFound);
      expect(stderr()).toContain('\nDid you mean the file note.prompt?\n');
    },
  );

  it('gets no hint if no file has a similar name', async () => {
    const home = createHomeWithNote();
    const { exitCode, stderr } = await runInProcess(['run', 'memo'], { home, local: localService });
    expect(exitCode).toBe(EXIT.notFound);
    expect(stderr()).toContain('the prompt "memo" does not exist');
    expect(stderr()).not.toContain('Did you mean');
  });
});

it('a missing file with backslashes is named as it was typed', async () => {
  const { exitCode, stderr } = await runInProcess(['run', 'drafts\\note.prompt'], {
    local: localService,
  });
  expect(exitCode).toBe(EXIT.notFound);
  expect(stderr()).toContain(
    'the prompt "drafts\\note.prompt" does not exist, and neither does a file of that name',
  );
});

describe('a target that is not a regular file', () => {
  it.each(['dir.prompt', './dir.prompt', '.'])(
    'is refused if it is a directory: %s',
    async target => {
      const home = createTemporaryDirectory();
      mkdirSync(path.join(home, 'dir.prompt'));
      const { exitCode, stderr } = await runInProcess(['run', target], {
        home,
        local: localService,
      });

      expect(exitCode).toBe(EXIT.usage);
      expect(stderr()).toContain(`${target} is a directory, not a prompt file`);
      expect(stderr()).not.toContain('Did you mean');
    },
  );

  it.runIf(isPosix)(
    'is refused if it is a pipe, a socket, a device or a link to itself',
    async () => {
      const home = createTemporaryDirectory();
      const server = createServer().listen(path.join(home, 'socket.prompt'));
      onTestFinished(() => void server.close());
      await once(server, 'listening');
      execFileSync('mkfifo', [path.join(home, 'pipe.prompt')]);
      symlinkSync('/dev/zero', path.join(home, 'zero.prompt'));
      symlinkSync('loop.prompt', path.join(home, 'loop.prompt'));

      for (const [target, message] of [
        ['pipe.prompt', 'pipe.prompt is a named pipe, not a prompt file'],
        ['socket.prompt', 'socket.prompt is a socket, not a prompt file'],
        ['zero.prompt', 'zero.prompt is a device, not a prompt file'],
        ['loop.prompt', "loop.prompt can't be read: ELOOP"],
      ] as const) {
        const { exitCode, stderr } = await runInProcess(['run', target], {
          home,
          local: localService,
        });
        expect(exitCode).toBe(EXIT.usage);
        expect(stderr()).toContain(message);
      }
    },
  );
});

it('a run notes that its file lacks the line before the front matter', async () => {
  const home = createHomeWithNote();
  const { exitCode, stderr, stdout } = await runInProcess(
    ['run', 'note.prompt', '-i', 'name=Ada'],
    {
      home,
      local: localService,
    },
  );

  expect(exitCode).toBe(0);
  expect(stderr()).toContain('note: note.prompt lacks the line --- before its front matter');
  expect(stdout()).toContain('model: echo');
});
