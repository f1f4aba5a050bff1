import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LineFile, openForAppend } from '../../../src/cli/core/line-file.ts';
import { temporaryDirectory } from '../../support/context.ts';

describe('a file of lines', () => {
  it('keeps the order of lines that come at once', async () => {
    const file = path.join(temporaryDirectory(), 'made/lines.jsonl');
    const lines = new LineFile(() => openForAppend(file));
    await Promise.all([lines.append({ n: 1 }), lines.append({ n: 2 })]);
    await lines.append({ n: 3 });
    await lines.close();
    expect(readFileSync(file, 'utf8')).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
  });

  it.each([{ durable: true }, { durable: false }])('closes what was open already, %o', async options => {
    const handle = await open(path.join(temporaryDirectory(), 'lines.jsonl'), 'a');
    await LineFile.on(handle, options).close();
    expect(handle.fd).toBe(-1);
  });

  it('writes no line after one that could not be written', async () => {
    const handle = await open(path.join(temporaryDirectory(), 'lines.jsonl'), 'wx');
    const lines = LineFile.on(handle);
    await handle.close();
    await expect(lines.append({ n: 1 })).rejects.toThrow();
    await expect(lines.append({ n: 2 })).rejects.toThrow();
    await lines.close();
  });
});
