import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LabelMove, PromptPage, PromptVersionList, Run } from '../../src/wire/index.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';

let service: TestService;
let ben: string;
let first: string;
let second: string;
let promptId: string;

beforeAll(async () => {
  service = await TestService.start();
  ben = await createKeyIn(service.dataDir, { user: 'ben' });
  ({ promptVersionId: first, promptId } = await service.publish('summary', 'One {{x}}'));
  ({ promptVersionId: second } = await service.publish('summary', 'Two {{x}}'));
});

afterAll(() => service.close());

const put = (label: string, promptVersionId: string, key?: string) =>
  service.call('PUT', `/prompts/summary/labels/${label}`, { body: { promptVersionId }, key });

const remove = (label: string, key?: string) =>
  service.call('DELETE', `/prompts/summary/labels/${label}`, { key });

const listLabels = async (target = '/prompts/publish?q=summary') => {
  const { rows } = await service.data<PromptPage>(target, { key: ben });
  return rows.find(({ slug }) => slug === 'summary')?.labels;
};

const listVersions = async () =>
  (await service.data<PromptVersionList>(`/prompts/${promptId}/versions`, { key: ben })).versions;

test('a label is set, moved and removed, and its journal says who did it', async () => {
  expect(await put('production', first)).toMatchObject({
    http: 200,
    data: { slug: 'summary', label: 'production', promptVersionId: first, previous: null },
  });
  expect(await listLabels()).toEqual([{ label: 'production', promptVersionId: first }]);
  expect(await listLabels('/prompts?limit=50')).toEqual([
    { label: 'production', promptVersionId: first },
  ]);
  expect((await put('production', second.toUpperCase())).data).toMatchObject({
    promptVersionId: second,
    previous: first,
  });

  // Once more to where it leads is not a step.
  expect((await put('production', second)).data).toMatchObject({ previous: second });
  expect((await listVersions()).map(row => row.labels)).toEqual([['production'], []]);
  expect(await remove('production')).toMatchObject({
    http: 200,
    data: { label: 'production', promptVersionId: null, previous: second },
  });
  expect(await listLabels()).toEqual([]);

  const steps = (await listVersions()).map(row =>
    (row.history ?? []).map(({ label, by, from, to }: LabelMove) => ({ label, by, from, to })),
  );
  const by = { label: 'production', by: 'local' };

  expect(steps).toEqual([
    [
      { ...by, from: second, to: null },
      { ...by, from: first, to: second },
    ],
    [{ ...by, from: null, to: first }],
  ]);
});

test('labels are moved by authors only', async () => {
  expect(await put('staging', first, ben)).toMatchObject({ http: 403, status: 'FORBIDDEN_ERROR' });
  expect((await remove('staging', ben)).http).toBe(403);
});

test.each(['dead', 'f', '12345678-1', 'Production', '-x', 'x-', 'a_b', 'x'.repeat(65), 'a%2fb'])(
  '%s is not a label',
  async label => {
    expect(await put(label, first)).toMatchObject({ http: 422, status: 'VALIDATION_ERROR' });
    expect((await remove(label)).http).toBe(422);
  },
);

test('a missing label is 404, an invalid version id 422', async () => {
  const { promptVersionId: others } = await service.publish('other', 'Hello');
  expect((await put('beta', others)).http).toBe(404);
  expect((await put('beta', '00000000-0000-4000-8000-000000000000')).http).toBe(404);
  expect((await put('beta', 'first')).http).toBe(422);
  expect((await remove('beta')).http).toBe(404);

  const unknown = await service.call('PUT', '/prompts/nobodys/labels/beta', {
    body: { promptVersionId: first },
  });
  expect(unknown.http).toBe(404);

  const sneaky = await service.call('PUT', '/prompts/x%2fsummary/labels/beta', {
    body: { promptVersionId: first },
  });
  expect(sneaky.http).toBe(422);
  expect(await listLabels()).toEqual([]);
});

test('of several concurrent moves, each follows the one before', async () => {
  await Promise.all(
    Array.from({ length: 10 }, (_, index) => put('busy', index % 2 === 0 ? first : second)),
  );
  const steps = (await listVersions())
    .flatMap(row => row.history ?? [])
    .filter(({ label }) => label === 'busy')
    .map(({ from, to }) => ({ from, to }));

  let at: string | null = null;
  const left = [...steps];
  while (left.length > 0) {
    const next = left.findIndex(({ from }) => from === at);
    expect(next).toBeGreaterThanOrEqual(0);
    at = left.splice(next, 1)[0]?.to ?? null;
  }

  await remove('busy');
});

test('the labels of a withdrawn prompt lead nowhere until it is published again', async () => {
  await service.publish('seasonal', 'Spring');
  const { promptVersionId } = await service.find('seasonal');
  const target = '/prompts/seasonal/labels/production';
  await service.call('PUT', target, { body: { promptVersionId } });
  await service.call('DELETE', '/prompts/seasonal');

  expect((await service.call('PUT', target, { body: { promptVersionId } })).http).toBe(404);
  expect((await service.call('DELETE', target)).http).toBe(404);

  await service.publish('seasonal', 'Summer');
  const { rows } = await service.data<PromptPage>('/prompts/publish?q=seasonal');

  expect(rows[0]?.labels).toEqual([{ label: 'production', promptVersionId }]);

  const run = await service.post<Run>('/runs', { promptVersionId, inputs: {} });
  expect(run.data.outputs[0]?.data).toBe('Spring');
});
