import { expect, it } from 'vitest';
import { localService } from '../../../src/main.ts';
import { runInProcess, temporaryDirectory } from '../../support/context.ts';

const options = () => ({ home: temporaryDirectory(), local: localService });

it('creates a key, printed once, and lists it without its text', async () => {
  const within = options();
  const created = await runInProcess(
    ['keys', 'create', '--user', 'ci', '--plan', 'none', '--credits', '12'],
    within,
  );
  expect(created.stdout()).toMatch(/^pr_\S{20,}\n$/);
  expect(created.stderr()).toMatch(/^Key \S+ of user ci; it is not shown again\.\n$/);
  const list = await runInProcess(['keys', 'list'], within);
  expect(list.stdout()).toMatch(/^\S+\tci\tnone\t12\t\d{4}-\d\d-\d\dT[\d:.]+Z\t\n$/);
  expect(list.stdout()).not.toContain(created.stdout().trim());
});

it('gives all of it as JSON', async () => {
  const within = options();
  const created = await runInProcess(['keys', 'create', '--json'], within);
  const { key, ...shown } = JSON.parse(created.stdout()) as Record<string, unknown>;
  expect(key).toMatch(/^pr_/);
  expect(shown).toMatchObject({ user: 'local', plan: 'pro', credits: 1_000_000, lastUsedAt: null });
  expect(JSON.parse((await runInProcess(['keys', 'list', '--json'], within)).stdout())).toEqual([shown]);
});

it('revokes a key, once', async () => {
  const within = options();
  await runInProcess(['keys', 'create'], within);
  const id = (await runInProcess(['keys', 'list', '--query', '[0].id'], within)).stdout().trim();
  expect((await runInProcess(['keys', 'revoke', id], within)).exitCode).toBe(0);
  const again = await runInProcess(['keys', 'revoke', id], within);
  expect([again.exitCode, again.stderr()]).toEqual([4, expect.stringContaining(`there is no key '${id}'`)]);
});

it('lists no keys as a success', async () => {
  const within = options();
  const [plain, terminal] = [
    await runInProcess(['keys', 'list'], within),
    await runInProcess(['keys', 'list'], { ...within, terminal: { stdout: true } }),
  ];
  expect([plain.exitCode, plain.stdout(), terminal.stdout()]).toEqual([0, '', 'no keys\n']);
});

it.each([
  ['--user', 'a b'],
  ['--plan', 'gold'],
  ['--credits', '-1'],
  ['--credits', 'many'],
])('refuses %s %j before anything is opened', async (flag, value) => {
  const { exitCode, stderr } = await runInProcess(['keys', 'create', `${flag}=${value}`]);
  expect([exitCode, stderr()]).toEqual([
    2,
    expect.stringMatching(new RegExp(`^error: ${flag}.*\\(USAGE_ERROR\\)`)),
  ]);
});
