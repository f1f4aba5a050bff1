import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listFolderPromptFiles } from '../../../src/prompts/parse/read-prompt-text.ts';
import { inProcessTasks } from '../../../src/prompts/tasks/prompt-tasks.ts';
import { readPromptFile } from '../../../src/prompts/tasks/read-prompt.ts';
import {
  type WatchedPrompts,
  watchPromptFiles,
} from '../../../src/service/prompts/publish-directory.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { hasLinks, isPosix } from '../../support/system.ts';

let directory: string;
const inDirectory = (name: string): string => path.join(directory, name);
const write = (name: string, text: string | Buffer): Promise<void> =>
  writeFile(inDirectory(name), text);

beforeEach(() => {
  directory = createTemporaryDirectory();
});

describe('a directory of prompts', () => {
  it.runIf(hasLinks)(
    'returns those that can be used and reports the faults of the others',
    async () => {
      await write('b.prompt', 'b');
      await write('a.prompt', '---\ntitle: A\n---\na');
      await write('bad.prompt', '---\ntitle: "A\n---\na');
      await write('binary.prompt', Buffer.from([0xff, 0x00]));
      await write('picture.prompt', Buffer.from('89504e470d0a1a0a0000000d', 'hex'));
      await write('report.prompt', Buffer.from('%PDF-1.7\n%\u{e2}\u{e3}', 'latin1'));
      await write('utf16.prompt', Buffer.from('\uFEFF---\ntitle: A\n---\na', 'utf16le'));
      await write('large.prompt', 'x'.repeat(128 * 1024 + 1));
      await write('notes.txt', 'x');
      await write('.hidden.prompt', 'x');
      await write('_partial.prompt', 'x');
      await mkdir(inDirectory('folder.prompt'));
      await symlink(inDirectory('nowhere'), inDirectory('dangling.prompt'));
      const files = await listFolderPromptFiles(directory);
      const results = await Promise.allSettled(files.map(file => readPromptFile(file)));

      expect(
        results.map(result =>
          result.status === 'fulfilled' ? result.value.title : String(result.reason),
        ),
      ).toEqual([
        'A',
        'b',
        expect.stringContaining(`${inDirectory('bad.prompt')}:2: this is not YAML`),
        expect.stringContaining(
          `${inDirectory('binary.prompt')}:1: the file is not valid UTF-8 text`,
        ),
        expect.stringContaining('dangling.prompt'),
        expect.stringContaining(`${inDirectory('folder.prompt')}:1: this is not a file`),
        expect.stringContaining(
          `${inDirectory('large.prompt')}:1: the file is larger than 128 KiB`,
        ),
        expect.stringContaining(
          `${inDirectory('picture.prompt')}:1: the file is a PNG picture, not text`,
        ),
        expect.stringContaining(`${inDirectory('report.prompt')}:1: the file is a PDF, not text`),
        expect.stringContaining(
          `${inDirectory('utf16.prompt')}:1: the file is UTF-16 text, as Windows PowerShell 5 writes it with >; save it as UTF-8`,
        ),
      ]);
    },
  );

  it('must be there', async () => {
    await expect(listFolderPromptFiles(inDirectory('none'))).rejects.toThrow(/ENOENT/);
    await expect(readPromptFile(inDirectory('none.prompt'))).rejects.toThrow(/ENOENT/);
  });
});

describe('a partial', () => {
  const readPartialOrFault = async (options: { allowOutside?: boolean } = {}): Promise<string> =>
    await readPromptFile(inDirectory('in/x.prompt'), options).then(
      ({ partials }) => partials['p'] ?? 'none',
      (error: unknown) => String(error).replace(directory, ''),
    );

  beforeEach(async () => {
    await mkdir(inDirectory('in'));
    await write('in/x.prompt', 'a\n{{> p}}');
  });

  it.runIf(hasLinks)('lies below the folder of its prompt, by its real path', async () => {
    await write('secret', 's');
    await symlink(inDirectory('secret'), inDirectory('in/_p.prompt'));

    expect(await readPartialOrFault()).toMatch(
      /in[/\\]x\.prompt:2: the partial `p` lies outside the folder/,
    );
    expect(await readPartialOrFault({ allowOutside: true })).toBe('s');

    await rm(inDirectory('in/_p.prompt'));
    await write('in/q', 'q');
    await symlink('q', inDirectory('in/_p.prompt'));

    expect(await readPartialOrFault()).toBe('q');
  });

  const SPECIAL_FILES = [
    ['a pipe', () => execFileSync('mkfifo', [inDirectory('in/_p.prompt')])],
    ['a device', () => symlink('/dev/zero', inDirectory('in/_p.prompt'))],
  ] as const;

  it.each([
    ...(isPosix ? SPECIAL_FILES : []),
    ['a folder', () => mkdir(inDirectory('in/_p.prompt'))] as const,
  ])('is a file, not %s', async (_, make) => {
    await make();
    const options = { allowOutside: true };
    expect(await readPartialOrFault(options)).toMatch(
      /in[/\\]x\.prompt:2: the partial `p` is not a file/,
    );
  });

  it('is of bounded size', async () => {
    await write('in/_p.prompt', 'x'.repeat(128 * 1024 + 1));
    expect(await readPartialOrFault()).toMatch(/:2: the partial `p` is larger than 128 KiB/);
  });
});

describe('a watched directory', () => {
  let watched: WatchedPrompts;
  let notices: string[];
  let resolveNext: (() => void) | undefined;

  afterEach(() => watched.close());

  const addNotice = (line: string): void => {
    notices.push(line);
    resolveNext?.();
  };

  async function startWatching(): Promise<string[]> {
    notices = [];
    watched = watchPromptFiles(directory, {
      tasks: inProcessTasks,
      onFile: ({ slug, template }) => addNotice(`${slug}: ${template}`),
      onError: error => addNotice(error.message.replace(directory, '')),
    });

    await watched.ready;
    return notices.splice(0);
  }

  /** Returns the notices after a change. */
  async function listNoticesAfter(change: () => Promise<unknown>): Promise<string[]> {
    const nextNotice = new Promise<void>(resolve => {
      resolveNext = resolve;
    });
    await change();
    await nextNotice;
    return notices.splice(0);
  }

  it('reports existing files, then new, changed and broken ones', async () => {
    await write('a.prompt', 'one');
    await write('b.prompt', '{{');

    expect(await startWatching()).toEqual(['a: one', '/b.prompt:1: this tag is never closed']);
    expect(await listNoticesAfter(() => write('c.prompt', 'new'))).toEqual(['c: new']);
    expect(await listNoticesAfter(() => write('a.prompt', 'two'))).toEqual(['a: two']);
    expect(await listNoticesAfter(() => write('a.prompt', '{{#if}'))).toEqual([
      '/a.prompt:1: this tag is never closed',
    ]);
  });

  it.runIf(hasLinks)(
    'leaves out what leads out of it, or is not a regular file, and reports each once',
    async () => {
      const outside = createTemporaryDirectory();
      await writeFile(path.join(outside, 'x.prompt'), 'secret');
      await write('a.prompt', 'one');
      await symlink(inDirectory('a.prompt'), inDirectory('b.prompt'));
      await symlink(path.join(outside, 'x.prompt'), inDirectory('c.prompt'));
      await symlink('nowhere', inDirectory('d.prompt'));
      await symlink('e.prompt', inDirectory('e.prompt'));
      await symlink('/dev/zero', inDirectory('f.prompt'));
      await mkdir(inDirectory('g.prompt'));
      if (isPosix) execFileSync('mkfifo', [inDirectory('h.prompt')]);

      expect(await startWatching()).toEqual([
        'a: one',
        'b: one',
        `/c.prompt is left out: it leads out of ${directory}`,
        '/d.prompt is left out: it is a link to nothing',
        '/e.prompt is left out: it is not a regular file',
        `/f.prompt is left out: it leads out of ${directory}`,
        '/g.prompt is left out: it is not a regular file',
        ...(process.platform === 'win32'
          ? []
          : ['/h.prompt is left out: it is not a regular file']),
      ]);

      await watched.rescan();
      expect(notices).toEqual([]);
    },
  );

  it('reports a prompt again when a partial of it changes, and no partial', async () => {
    await write('_sign.prompt', 'one');
    await write('a.prompt', '{{> sign}}');
    await write('b.prompt', 'b');

    expect(await startWatching()).toEqual(['a: {{> sign}}', 'b: b']);
    expect(await listNoticesAfter(() => write('_sign.prompt', 'two'))).toEqual(['a: {{> sign}}']);
    expect(await listNoticesAfter(() => rm(inDirectory('_sign.prompt')))).toEqual([
      '/a.prompt:1: unknown partial `sign`: it would be the file _sign.prompt beside this one',
    ]);
  });

  it('takes a rename over the file for a change', async () => {
    await write('a.prompt', 'one');
    await startWatching();
    await write('.a.prompt.swp', 'two');
    expect(
      await listNoticesAfter(() => rename(inDirectory('.a.prompt.swp'), inDirectory('a.prompt'))),
    ).toEqual(['a: two']);
    expect(
      await listNoticesAfter(() => rename(inDirectory('a.prompt'), inDirectory('b.prompt'))),
    ).toEqual(['b: two']);
  });

  it('does not report a file that was only touched', async () => {
    await write('a.prompt', 'one');
    await startWatching();
    await write('a.prompt', 'one');
    expect(await listNoticesAfter(() => write('z.prompt', 'mark'))).toEqual(['z: mark']);
  });

  it('reports a fault again that comes back after the file was valid', async () => {
    await write('a.prompt', 'valid');
    await startWatching();
    const fault = ['/a.prompt:1: this tag is never closed'];

    expect(await listNoticesAfter(() => write('a.prompt', '{{'))).toEqual(fault);

    await write('a.prompt', 'valid');
    await watched.rescan();
    expect(notices.splice(0)).toEqual([]);

    expect(await listNoticesAfter(() => write('a.prompt', '{{'))).toEqual(fault);
  });

  it('offers a refused file again, and reports each fault once', async () => {
    await write('a.prompt', 'one');
    const refused = new Set(['a']);
    notices = [];

    watched = watchPromptFiles(directory, {
      tasks: inProcessTasks,
      onFile: ({ slug }) => {
        if (refused.has(slug)) throw new Error(`${slug} is refused`);
        addNotice(slug);
      },
      onError: error => addNotice(error.message),
    });

    await watched.ready;
    await watched.rescan();

    expect(notices.splice(0)).toEqual(['a is refused']);

    refused.clear();
    await watched.rescan();
    await watched.rescan();

    expect(notices).toEqual(['a']);
  });

  it('that is not there is a fault, not an end', async () => {
    directory = inDirectory('none');
    expect((await startWatching()).join('\n')).toMatch(/ENOENT|can't watch/);
  });
});
