import { expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../support/context.ts';

const createOptions = () => ({ home: createTemporaryDirectory(), local: localService });

it('creates a key, printed once, and lists it without its text', async () => {
  const options = createOptions();
  const created = await runInProcess(
    ['keys', 'create', '--user', 'ci', '--plan', 'none', '--credits', '12'],
    options,
  );

  expect(created.stdout()).toMatch(/^pr_\S{20,}\n$/);
  expect(created.stderr()).toMatch(/^Key \S+ of user ci; it is not shown again\.\n$/);

  const list = await runInProcess(['keys', 'list'], options);
  expect(list.stdout()).toMatch(/^\S+\tci\tnone\t12\t\d{4}-\d\d-\d\dT[\d:.]+Z\t\n$/);
  expect(list.stdout()).not.toContain(created.stdout().trim());
});

it('prints the key and its facts as JSON', async () => {
  const options = createOptions();
  const created = await runInProcess(['keys', 'create', '--json'], options);
  const { key, ...shown } = JSON.parse(created.stdout()) as Record<string, unknown>;

  expect(key).toMatch(/^pr_/);
  expect(shown).toMatchObject({ user: 'local', plan: 'pro', credits: 1_000_000, lastUsedAt: null });
  expect(JSON.parse((await runInProcess(['keys', 'list', '--json'], options)).stdout())).toEqual([
    shown,
  ]);
});

it('revokes a key, and reports one that is already revoked', async () => {
  const options = createOptions();
  await runInProcess(['keys', 'create'], options);
  const id = (await runInProcess(['keys', 'list', '--query', '[0].id'], options)).stdout().trim();

  expect((await runInProcess(['keys', 'revoke', id], options)).exitCode).toBe(0);

  const again = await runInProcess(['keys', 'revoke', id], options);
  expect(again.stderr()).toContain(`the key '${id}' does not exist`);
  expect(again.exitCode).toBe(EXIT.notFound);
});

it('leaves an existing user unchanged, and says how to change it', async () => {
  const options = createOptions();
  await runInProcess(['keys', 'create', '--user', 'ci', '--credits', '12'], options);
  const again = await runInProcess(['keys', 'create', '--user', 'ci', '--credits', '99'], options);

  expect(again.stderr()).toContain('promptrun users set ci');
  expect(again.exitCode).toBe(0);

  const shown = await runInProcess(['users', 'show', 'ci', '--json'], options);
  expect(JSON.parse(shown.stdout())).toEqual({ user: 'ci', plan: 'pro', credits: 12, keys: 2 });
});

it('revokes a key by the beginning of its id, if no other begins so', async () => {
  const options = createOptions();
  await runInProcess(['keys', 'create'], options);
  const id = (await runInProcess(['keys', 'list', '--query', '[0].id'], options)).stdout().trim();
  const revokeKey = async (name: string) =>
    (await runInProcess(['keys', 'revoke', name], options)).exitCode;

  expect(await revokeKey('zzzz')).toBe(EXIT.notFound);
  expect(await revokeKey('')).toBe(EXIT.usage);
  expect(await revokeKey(id.slice(0, 8))).toBe(0);

  for (let key = 0; key < 10; key += 1) await runInProcess(['keys', 'create'], options);

  for (let user = 0; user < 7; user += 1) {
    await runInProcess(['keys', 'create', '--user', `u${user}`], options);
  }

  const ids = JSON.parse(
    (await runInProcess(['keys', 'list', '--query', '[].id'], options)).stdout(),
  ) as string[];

  // Seventeen ids have sixteen possible first digits, so two begin alike.
  const sharedDigit =
    ids.find((one, index) => ids.findIndex(other => other[0] === one[0]) !== index)?.[0] ?? '';
  expect(await revokeKey(sharedDigit)).toBe(EXIT.usage);
});

it('changes the credits and the plan of a user', async () => {
  const options = createOptions();
  await runInProcess(['keys', 'create', '--user', 'ci', '--credits', '12'], options);

  const set = async (...args: string[]) => {
    const { exitCode, stdout } = await runInProcess(['users', 'set', ...args, '--json'], options);
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
  expect((await set('ci', '--credits', '-6'))[0]).toBe(EXIT.usage);

  const last = await runInProcess(['users', 'set', 'ci', '--credits', '1'], options);
  expect(last.stdout() + last.stderr()).toMatch(/\b1 credit\./u);
  expect((await set('ci', '--credits', 'many'))[0]).toBe(EXIT.usage);
  expect((await set('ci'))[0]).toBe(EXIT.usage);
  expect((await set('nobody', '--plan', 'pro'))[0]).toBe(EXIT.notFound);
  expect((await runInProcess(['users', 'show', 'nobody'], options)).exitCode).toBe(EXIT.notFound);
  expect((await runInProcess(['users', 'list'], options)).stdout()).toBe(
    'local\tpro\t1000000\t0\nci\tnone\t1\t1\n',
  );
});

it('exits with 0 if there are no keys to list', async () => {
  const options = createOptions();
  const [plain, terminal] = [
    await runInProcess(['keys', 'list'], options),
    await runInProcess(['keys', 'list'], { ...options, terminal: { stdout: true } }),
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
    withStore: (storeOptions, use) =>
      localService.withStore({ ...storeOptions, databaseUrl: undefined }, use),
  };
  const options = { ...createOptions(), local };
  const database = ['--database', 'postgres://ops:sekret@db/team'];
  const create = ['keys', 'create', '--user', 'ci', '--credits', '1', ...database];
  await runInProcess(create, options);

  const outcomes = [
    [create, 'promptrun users set ci --database <url>'],
    [['keys', 'revoke', 'zzzz', ...database], 'promptrun keys list --database <url>'],
    [['users', 'show', 'nobody', ...database], 'promptrun users list --database <url>'],
  ] as const;
  for (const [argv, advice] of outcomes) {
    const { stderr } = await runInProcess(argv, options);
    expect(stderr()).toContain(`: ${advice}\n`);
    expect(stderr()).not.toContain('sekret');
  }
});
