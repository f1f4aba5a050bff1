import fs, { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AppendLog, openForAppend } from '../../../src/files/writing/append-log.ts';
import { toContainedPath } from '../../../src/files/writing/write-below.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

describe('a file of lines', () => {
  it('keeps the order of lines that come at once', async () => {
    const file = path.join(createTemporaryDirectory(), 'made/lines.jsonl');
    const lines = new AppendLog(() => openForAppend(toContainedPath(file)));
    await Promise.all([lines.append({ n: 1 }), lines.append({ n: 2 })]);
    await lines.append({ n: 3 });
    await lines.close();
    expect(readFileSync(file, 'utf8')).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
  });

  it.each([{ isDurable: true }, { isDurable: false }])(
    'closes what was open already, %o',
    async options => {
      const handle = await open(path.join(createTemporaryDirectory(), 'lines.jsonl'), 'a');
      await AppendLog.forHandle(handle, options).close();
      expect(handle.fd).toBe(-1);
    },
  );

  it('flushes what was not flushed with its line once it is closed', async () => {
    const file = path.join(createTemporaryDirectory(), 'lines.jsonl');
    const flushedTexts: string[] = [];
    vi.spyOn(fs, 'fdatasync').mockImplementation((_, callback) => {
      flushedTexts.push(readFileSync(file, 'utf8'));
      callback(null);
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    const lines = new AppendLog(() => openForAppend(toContainedPath(file)));
    await lines.append({ n: 1 }, { isDurable: false });

    expect(readFileSync(file, 'utf8')).toBe('{"n":1}\n');
    expect(flushedTexts).toEqual([]);

    await lines.append({ n: 2 });
    await lines.append({ n: 3 }, { isDurable: false });
    await lines.close();

    expect(flushedTexts).toEqual(['{"n":1}\n{"n":2}\n', '{"n":1}\n{"n":2}\n{"n":3}\n']);
  });

  it('writes no line after one that could not be written', async () => {
    const handle = await open(path.join(createTemporaryDirectory(), 'lines.jsonl'), 'wx');
    const lines = AppendLog.forHandle(handle);
    await handle.close();
    await expect(lines.append({ n: 1 })).rejects.toThrow();
    await expect(lines.append({ n: 2 })).rejects.toThrow();
    await lines.close();
  });
});

describe('a log that is opened to append to it', () => {
  const completeLine = '{"n":1}\n';

  const appendAndRead = async (content: string): Promise<string> => {
    const file = path.join(createTemporaryDirectory(), 'lines.jsonl');
    writeFileSync(file, content);
    const lines = new AppendLog(() => openForAppend(toContainedPath(file)));
    await lines.append({ n: 2 });
    await lines.close();
    return readFileSync(file, 'utf8');
  };

  it.each([
    ['a torn line', `${completeLine}{"n":`],
    ['a line that lacks only its end', `${completeLine}{"n":7}`],
    ['a tail of NULs', `${completeLine}${'\0'.repeat(5000)}`],
    ['a torn line longer than is read at a time', `${completeLine}${'x'.repeat(600_000)}`],
  ])('has %s cut off', async (_, content) => {
    expect(await appendAndRead(content)).toBe(`${completeLine}{"n":2}\n`);
  });

  it('that holds nothing but a torn line is begun anew', async () => {
    expect(await appendAndRead('{"n')).toBe('{"n":2}\n');
  });

  it('loses no line of processes that open and write it at the same time', async () => {
    const file = path.join(createTemporaryDirectory(), 'lines.jsonl');
    writeFileSync(file, `${completeLine}{"torn`);
    const logs = [1, 2, 3, 4].map(() => new AppendLog(() => openForAppend(toContainedPath(file))));
    await Promise.all(logs.map((log, n) => log.append({ log: n })));
    await Promise.all(logs.map(log => log.close()));
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.toSorted()).toEqual([0, 1, 2, 3].map(n => `{"log":${n}}`).concat('{"n":1}'));
  });
});
