import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { listKnownProviders } from '../../../src/models/providers/providers.ts';
import { runInProcess } from '../../support/context.ts';

const SOURCES = ['src', 'bin'].flatMap(directory =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter(file => /\.[tj]s$/u.test(file) && !file.endsWith('topics.ts'))
    .map(file => path.join(directory, file)),
);

/** Matches the names of environment variables in source code. */
const VARIABLE_NAMES =
  /\benv(?:\.|\[')([A-Z][A-Z0-9_]+)|\b(PROMPTRUN_[A-Z]+(?:_[A-Z]+)*|XDG_\w+|(?:LOCAL)?APPDATA)\b/gu;

it('help environment lists every variable that the source reads', async () => {
  const { stdout } = await runInProcess(['help', 'environment']);
  const listed = new Set(stdout().match(/\b[A-Z][A-Z0-9_]+\b/gu));
  const read = SOURCES.flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(VARIABLE_NAMES)].map(
      ([, accessed, named]) => accessed ?? named ?? '',
    ),
  );

  const asked = new Set<string>();
  const env = new Proxy({}, { get: (_, name) => void asked.add(String(name)) });
  const keys = listKnownProviders(env).flatMap(({ keyVariables }) => keyVariables);
  const missing = [...read, ...keys, ...asked].filter(name => !listed.has(name));

  expect([...new Set(missing)]).toEqual([]);
  expect(read).toContain('PROMPTRUN_EXCLUSIVE_KEY');
  expect([...asked]).toContain('GROQ_BASE_URL');
});

it.each([['environment'], ['exit-codes'], ['flags']])('help %s fits 80 columns', async topic => {
  const { stdout } = await runInProcess(['help', topic]);
  for (const line of stdout().split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

it('--help lists the choices of a flag, and of a repeatable one too', async () => {
  const { stdout } = await runInProcess(['test', '--help']);
  const text = stdout().replace(/\s+/gu, ' ');
  expect(text).toContain('repeatable (choices: "junit", "json", "github", "html", "markdown")');
  expect(text).toContain('(choices: "failed", "worse", "unsure")');
});

it.each(['-h', '--help'])('%s explains a command before it and after it', async flag => {
  const after = await runInProcess(['runs', 'list', flag]);
  const before = await runInProcess([flag, 'runs', 'list']);
  expect(after.stdout()).toContain('Usage: promptrun runs list');
  expect(before.stdout()).toBe(after.stdout());
  expect(before.exitCode).toBe(0);
  expect((await runInProcess([flag])).stdout()).toContain('Usage: promptrun <command>');
});
