import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { toPosixRelativePath } from '../../../../src/cli/core/paths.ts';
import {
  explainBackslashes,
  explainCaseMismatch,
} from '../../../../src/cli/testing/cases/read-target.ts';
import { localService } from '../../../../src/main.ts';
import { runInProcess } from '../../../support/context.ts';
import { ECHO, Project } from '../../../support/project.ts';

const TARGET = 'sub\\echo.prompt';
const TEST = `target: ${TARGET}\ncases:\n  - inputs: { text: a }\n    expect: [{ contains: a }]\n`;
const isWindows = path.sep === '\\';

describe('a target with a backslash', () => {
  it('works on Windows, with a note, and nowhere else, with an error: both say how to write it', async () => {
    const project = new Project({ 'echo.test.yaml': TEST, 'sub/echo.prompt': ECHO });

    // `project.run` adds `-q`, which hides notes.
    const options = { home: project.home, local: localService };
    const { exitCode, stderr } = await runInProcess(['test', 'echo.test.yaml'], options);
    const message = isWindows
      ? 'note: echo.test.yaml:1: the target sub\\echo.prompt works on Windows only; write sub/echo.prompt'
      : 'Write the path with /';

    expect(stderr()).toContain(message);
    expect(exitCode).toBe(isWindows ? 0 : 2);
  });

  it('gets the note on Windows only', () => {
    expect(explainBackslashes(TARGET, 'win32')).toContain('write sub/echo.prompt');
    expect([
      explainBackslashes(TARGET, 'linux'),
      explainBackslashes('sub/echo.prompt', 'win32'),
    ]).toEqual([undefined, undefined]);
  });
});

describe('a target in another case', () => {
  it.each([
    ['./Note.prompt', '/home/ada/note.prompt', 'is note.prompt on disk'],
    ['..\\Sub\\note.prompt', 'C:\\work\\sub\\note.prompt', 'is sub/note.prompt on disk'],
  ])('gets a note: %s', (target, real, expectedNote) => {
    expect(explainCaseMismatch(target, real, 'darwin')).toContain(
      `the target ${target} ${expectedNote}`,
    );
  });

  it.each([
    ['./note.prompt', '/home/ada/note.prompt'],
    ['../sub/gr\u00fcn.prompt', '/home/Ada/sub/gru\u0308n.prompt'],
    ['./link.prompt', '/home/ada/note.prompt'],
  ])('gets none: %s', (target, real) => {
    expect(explainCaseMismatch(target, real, 'darwin')).toBeUndefined();
    expect(explainCaseMismatch('./Note.prompt', '/home/ada/note.prompt', 'linux')).toBeUndefined();
  });
});

it.each([
  ['C:\\work', 'C:\\work\\sub\\a.test.yaml', 'sub/a.test.yaml'],
  ['C:\\work\\in', 'C:\\work\\a.test.yaml', '../a.test.yaml'],
  ['C:\\work', 'D:\\a.test.yaml', 'D:/a.test.yaml'],
])('from %s, %s is written into reports as %s', (folder, file, expectedPath) => {
  expect(toPosixRelativePath(folder, file, path.win32)).toBe(expectedPath);
});
