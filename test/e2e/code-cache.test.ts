import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { COMMAND } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { buildCommandEnvironment } from '../support/environment.ts';

const INSTALLED = path.resolve(path.dirname(COMMAND), '..');

describe('the cache of compiled code', () => {
  let copy: string;
  let compiled: string;
  beforeEach(() => {
    copy = createTemporaryDirectory();
    compiled = path.join(copy, 'dist/compiled');
    for (const entry of [
      'bin',
      'package.json',
      'completions',
      'docs',
      'dist/main.cjs',
      'dist/chunks',
    ]) {
      cpSync(path.join(INSTALLED, entry), path.join(copy, entry), { recursive: true });
    }
  });

  const run = (args: readonly string[], env: Record<string, string> = {}): string =>
    execFileSync(process.execPath, [path.join(copy, 'bin/promptrun.js'), ...args], {
      encoding: 'utf8',
      env: buildCommandEnvironment(copy, env),
    });

  const printVersion = (): string => run(['--version']);

  /** Keeps what was compiled, as any command does that may write. */
  const keepCompiled = (env?: Record<string, string>): string => run(['alias', 'list'], env);

  const listKept = (): string[] =>
    readdirSync(compiled, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.v8'))
      .map(name => path.join(compiled, name));

  it('is kept beside it, once, for this version of Node', () => {
    const first = keepCompiled();
    const files = listKept();

    expect(files.map(file => path.basename(file))).toContain('main.cjs.v8');
    expect(path.basename(path.dirname(files[0] ?? ''))).toContain(process.version);

    const before = files.map(file => readFileSync(file));
    expect(keepCompiled()).toBe(first);
    expect(listKept()).toEqual(files);
    expect(files.map(file => readFileSync(file))).toEqual(before);
  });

  it('is not used for a command that has changed, be it as long as before', () => {
    keepCompiled();
    const before = printVersion();
    const after = before.replace(/\d+/, major => String((Number(major) + 1) % 10));
    const main = path.join(copy, 'dist/main.cjs');
    writeFileSync(main, readFileSync(main, 'utf8').replaceAll(before.trim(), after.trim()));

    expect(printVersion()).toBe(after);

    keepCompiled();
    expect(printVersion()).toBe(after);
  });

  it.each([
    ['cut off', bytes => bytes.subarray(0, -1000)],
    [
      'changed in one bit',
      bytes => bytes.with(bytes.length - 50_000, (bytes.at(-50_000) ?? 0) ^ 1),
    ],
    ['of something else', () => Buffer.from('foreign')],
  ] satisfies [string, (bytes: Buffer) => Uint8Array][])(
    'is written again if it is %s',
    (_, damage) => {
      const before = keepCompiled();
      const [main = ''] = listKept().filter(file => path.basename(file) === 'main.cjs.v8');
      const whole = readFileSync(main);
      const damaged = damage(whole);
      writeFileSync(main, damaged);

      expect(keepCompiled()).toBe(before);
      expect(readFileSync(main).equals(damaged)).toBe(false);
      expect(readFileSync(main).length).toBeGreaterThan(whole.length / 2);
      expect(keepCompiled()).toBe(before);
    },
  );

  it('is compiled anew if another V8 made it', () => {
    keepCompiled();
    const [main = ''] = listKept().filter(file => path.basename(file) === 'main.cjs.v8');
    const source = readFileSync(path.join(copy, 'dist/main.cjs'));
    const foreign = Buffer.alloc(2000, 7);
    const sums = Buffer.alloc(8);
    sums.writeUInt32LE(crc32(source), 0);
    sums.writeUInt32LE(crc32(foreign), 4);
    const other = Buffer.concat([foreign, sums]);
    writeFileSync(main, other);
    keepCompiled();

    expect(readFileSync(main).equals(other)).toBe(false);
  });

  it('is not written if it has no place, or is turned off', () => {
    keepCompiled({ NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(existsSync(compiled)).toBe(false);
    writeFileSync(compiled, 'a file where the directory would be');
    keepCompiled();
    expect(printVersion()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [['--version']],
    [['run', '--help']],
    [['help', 'environment']],
    [['completion', 'bash']],
    [['__complete', 'fish', '--', 'run', '']],
  ])('is not kept by %j, which writes nothing to the disk', args => {
    run(args);
    expect(existsSync(compiled)).toBe(false);
  });
});
