import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { runCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';

const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined;

describe.skipIf(hasSqlite)('SQLite on a Node without one', () => {
  const runHello = (home: string, env: Readonly<Record<string, string>>) =>
    runCommand(['run', 'hello', '-i', 'name=Ada'], { home, env });

  function findUnpackedFile(cache: string): string {
    const [folder = '', ...others] = readdirSync(path.join(cache, 'promptrun'));
    expect(others).toEqual([]);
    return path.join(cache, 'promptrun', folder, 'sqlite.node');
  }

  it('is unpacked once, into a folder that is the user’s alone', async () => {
    const home = createTemporaryDirectory();
    const env = { XDG_CACHE_HOME: path.join(home, 'cache') };

    expect((await runHello(home, env)).code).toBe(0);

    const file = findUnpackedFile(env.XDG_CACHE_HOME);
    const { ino, mtimeMs } = statSync(file);

    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect((await runHello(home, env)).code).toBe(0);
    expect(statSync(file)).toMatchObject({ ino, mtimeMs });
  });

  it.each([
    { what: 'is cut off', damage: (file: string) => truncateSync(file, 1000) },
    {
      what: 'has changed in one bit',
      damage: (file: string) => writeFileSync(file, flipBit(readFileSync(file))),
    },
  ])(
    'is unpacked again if its file $what, and only its user can write there',
    async ({ damage }) => {
      const home = createTemporaryDirectory();
      const env = { XDG_CACHE_HOME: path.join(home, 'cache') };
      await runHello(home, env);
      const file = findUnpackedFile(env.XDG_CACHE_HOME);
      const whole = readFileSync(file);
      damage(file);
      chmodSync(path.dirname(file), 0o755);

      expect((await runHello(home, env)).stdout).toBe('Hello, Ada! A pleasant day to you.\n');
      expect(readFileSync(file).equals(whole)).toBe(true);
      expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    },
  );

  it('is unpacked below the temporary folder if the cache cannot be written, and the error names both', async () => {
    const home = createTemporaryDirectory();
    const env = { XDG_CACHE_HOME: '/dev/null/cache', TMPDIR: home };

    expect((await runHello(home, env)).code).toBe(0);
    expect(existsSync(path.join(home, `promptrun-${process.getuid?.()}`))).toBe(true);

    const { code, stderr } = await runHello(home, { ...env, TMPDIR: '/dev/null/tmp' });
    expect(code).toBe(EXIT.usage);
    expect(stderr).toContain('/dev/null/cache/promptrun: ');
    expect(stderr).toContain('/dev/null/tmp/promptrun-');
    expect(stderr).toContain('use Node 22.13 or newer');
  });
});

/** Changes one bit in the middle of a file. */
function flipBit(bytes: Buffer): Uint8Array {
  const index = Math.floor(bytes.length / 2);
  return bytes.with(index, (bytes.at(index) ?? 0) ^ 1);
}
