import { expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
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

it('prints all of it as JSON', async () => {
  const within = options();
  const created = await runInProcess(['keys', 'create', '--json'], within);
  const { key, ...shown } = JSON.parse(created.stdout()) as Record<string, unknown>;

  expect(key).toMatch(/^pr_/);
  expect(shown).toMatchObject({ user: 'local', plan: 'pro', credits: 1_000_000, lastUsedAt: null });
  expect(JSON.parse((await runInProcess(['keys', 'list', '--json'], within)).stdout())).toEqual([
    shown,
  ]);
});

it('revokes a key, once', async () => {
  const within = options();
  await runInProcess(['keys', 'create'], within);
  const id = (await runInProcess(['keys', 'list', '--query', '[0].id'], within)).stdout().trim();

  expect((await runInProcess(['keys', 'revoke', id], within)).exitCode).toBe(0);

  const again = await runInProcess(['keys', 'revoke', id], within);
  expect(again.stderr()).toContain(`the key '${id}' does not exist`);
  expect(again.exitCode).toBe(EXIT.notFound);
});

it('does not change an existing user, and says so', async () => {
  const within = options();
  await runInProcess(['keys', 'create', '--user', 'ci', '--credits', '12'], within);
  const again = await runInProcess(['keys', 'create', '--user', 'ci', '--credits', '99'], within);

  expect(again.stderr()).toContain('promptrun users set ci');
  expect(again.exitCode).toBe(0);

  const shown = await runInProcess(['users', 'show', 'ci', '--json'], within);
  expect(JSON.parse(shown.stdout())).toEqual({ user: 'ci', plan: 'pro', credits: 12, keys: 2 });
});

it('revokes a key by the beginning of its id, if no other begins so', async () => {
  const within = options();
  await runInProcess(['keys', 'create'], within);
  const id = (await runInProcess(['keys', 'list', '--query', '[0].id'], within)).stdout().trim();
  const revoke = async (name: string) =>
    (await runInProcess(['keys', 'revoke', name], within)).exitCode;

  expect(await revoke('zzzz')).toBe(4);
  expect(await revoke('')).toBe(2);
  expect(await revoke(id.slice(0, 8))).toBe(0);

  for (let key = 0; key < 10; key += 1) await runInProcess(['keys', 'create'], within);

  for (let user = 0; user < 7; user += 1) {
    await runInProcess(['keys', 'create', '--user', `u${user}`], within);
  }

  const ids = JSON.parse(
    (await runInProcess(['keys', 'list', '--query', '[].id'], within)).stdout(),
  ) as string[];

  // Seventeen ids have sixteen possible first digits, so two begin alike.
  const shared =
    ids.find((one, index) => ids.findIndex(other => other[0] === one[0]) !== index)?.[0] ?? '';
  expect(await revoke(shared)).toBe(2);
});

it('changes the credits and the plan of a user', async () => {
  const within = options();
  await runInProcess(['keys', 'create', '--user', 'ci', '--credits', '12'], within);

  const set = async (...args: string[]) => {
    const { exitCode, stdout } = await runInProcess(['users', 'set', ...args, '--json'], within);
    return [exitCode, exitCode === 0 ? (JSON.parse(stdout()) as object) : {}];
  };

  expect(await set('ci', '--credits', '+8')).toEqual([
    0,
    { user: 'ci', plan: 'pro', credits: 20, keys: 1 },
  ]);
  expect(await set('ci', '--credits', '-15', '--plan', 'none')).toEqual([
    0,
    { user: 'ci', plan: 'none', credits: 5, keys: 1 },
  ]);
  expect((await set('ci', '--credits', '-6'))[0]).toBe(2);

  const last = await runInProcess(['users', 'set', 'ci', '--credits', '1'], within);
  expect(last.stdout() + last.stderr()).toMatch(/\b1 credit\./u);
  expect((await set('ci', '--credits', 'many'))[0]).toBe(2);
  expect((await set('ci'))[0]).toBe(2);
  expect((await set('nobody', '--plan', 'pro'))[0]).toBe(4);
  expect((await runInProcess(['users', 'show', 'nobody'], within)).exitCode).toBe(EXIT.notFound);
  expect((await runInProcess(['users', 'list'], within)).stdout()).toBe(
    'local\tpro\t1000000\t0\nci\tnone\t1\t1\n',
  );
});

it('lists no keys as a success', async () => {
  const within = options();
  const [plain, terminal] = [
    await runInProcess(['keys', 'list'], within),
    await runInProcess(['keys', 'list'], { ...within, terminal: { stdout: true } }),
  ];
  expect(plain.stdout()).toBe('');
  expect(terminal.stdout()).toBe('no keys\n');
  expect(plain.exitCode).toBe(0);
});

it.each([
  ['--user', 'a b'],
  ['--plan', 'gold'],
  ['--credits', '-1'],
  ['--credits', 'many'],
])('refuses %s %j before anything is opened', async (flag, value) => {
  const { exitCode, stderr } = await runInProcess(['keys', 'create', `${flag}=${value}`]);
  expect(stderr()).toMatch(new RegExp(`^error: .*${flag}.*\\(USAGE_ERROR\\)`));
  expect(exitCode).toBe(EXIT.usage);
});

it('advises commands for the same database, without its password', async () => {
  const local: typeof localService = {
    ...localService,
    withStore: (options, use) =>
      localService.withStore({ ...options, databaseUrl: undefined }, use),
  };
  const within = { ...options(), local };
  const database = ['--database', 'postgres://ops:sekret@db/team'];
  const create = ['keys', 'create', '--user', 'ci', '--credits', '1', ...database];
  await runInProcess(create, within);

  const outcomes = [
    [create, 'promptrun users set ci --database <url>'],
    [['keys', 'revoke', 'zzzz', ...database], 'promptrun keys list --database <url>'],
    [['users', 'show', 'nobody', ...database], 'promptrun users list --database <url>'],
  ] as const;
  for (const [argv, advice] of outcomes) {
    const { stderr } = await runInProcess(argv, within);
    expect(stderr()).toContain(`: ${advice}\n`);
    expect(stderr()).not.toContain('sekret');
  }
});
