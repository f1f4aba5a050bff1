import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LabelMove, PromptPage, PromptVersionList, Run } from '../../src/wire/index.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';

let service: TestService;
let bensKey: string;
let firstVersionId: string;
let secondVersionId: string;
let promptId: string;

beforeAll(async () => {
  service = await TestService.start();
  bensKey = await createKeyIn(service.dataDir, { user: 'ben' });
  ({ promptVersionId: firstVersionId, promptId } = await service.publish('summary', 'One {{x}}'));
  ({ promptVersionId: secondVersionId } = await service.publish('summary', 'Two {{x}}'));
});

afterAll(() => service.close());

const setLabel = (label: string, promptVersionId: string, key?: string) =>
  service.call('PUT', `/prompts/summary/labels/${label}`, { body: { promptVersionId }, key });

const removeLabel = (label: string, key?: string) =>
  service.call('DELETE', `/prompts/summary/labels/${label}`, { key });

const listLabels = async (target = '/prompts/publish?q=summary') => {
  const { rows } = await service.data<PromptPage>(target, { key: bensKey });
  return rows.find(({ slug }) => slug === 'summary')?.labels;
};

const listVersions = async () =>
  (await service.data<PromptVersionList>(`/prompts/${promptId}/versions`, { key: bensKey }))
    .versions;

test('a label is set, moved and removed, and its journal says who did it', async () => {
  expect(await setLabel('production', firstVersionId)).toMatchObject({
    http: 200,
    data: { slug: 'summary', label: 'production', promptVersionId: firstVersionId, previous: null },
  });
  expect(await listLabels()).toEqual([{ label: 'production', promptVersionId: firstVersionId }]);
  expect(await listLabels('/prompts?limit=50')).toEqual([
    { label: 'production', promptVersionId: firstVersionId },
  ]);
  expect((await setLabel('production', secondVersionId.toUpperCase())).data).toMatchObject({
    promptVersionId: secondVersionId,
    previous: firstVersionId,
  });

  // To set it once more to the same version is not a move.
  expect((await setLabel('production', secondVersionId)).data).toMatchObject({
    previous: secondVersionId,
  });
  expect((await listVersions()).map(row => row.labels)).toEqual([['production'], []]);
  expect(await removeLabel('production')).toMatchObject({
    http: 200,
    data: { label: 'production', promptVersionId: null, previous: secondVersionId },
  });
  expect(await listLabels()).toEqual([]);

  const moves = (await listVersions()).map(row =>
    (row.history ?? []).map(({ label, by, from, to }: LabelMove) => ({ label, by, from, to })),
  );
  const ours = { label: 'production', by: 'local' };

  expect(moves).toEqual([
    [
      { ...ours, from: secondVersionId, to: null },
      { ...ours, from: firstVersionId, to: secondVersionId },
    ],
    [{ ...ours, from: null, to: firstVersionId }],
  ]);
});

test('labels are moved by authors only', async () => {
  expect(await setLabel('staging', firstVersionId, bensKey)).toMatchObject({
    http: 403,
    status: 'FORBIDDEN_ERROR',
  });
  expect((await removeLabel('staging', bensKey)).http).toBe(403);
});

test.each(['dead', 'f', '12345678-1', 'Production', '-x', 'x-', 'a_b', 'x'.repeat(65), 'a%2fb'])(
  'the name %s is refused for a label with 422',
  async label => {
    expect(await setLabel(label, firstVersionId)).toMatchObject({
      http: 422,
      status: 'VALIDATION_ERROR',
    });
    expect((await removeLabel(label)).http).toBe(422);
  },
);

test('a label is not set to a version that is unknown, invalid or of another prompt', async () => {
  const { promptVersionId: othersVersionId } = await service.publish('other', 'Hello');
  expect((await setLabel('beta', othersVersionId)).http).toBe(404);
  expect((await setLabel('beta', '00000000-0000-4000-8000-000000000000')).http).toBe(404);
  expect((await setLabel('beta', 'first')).http).toBe(422);

  const ofUnknownPrompt = await service.call('PUT', '/prompts/nobodys/labels/beta', {
    body: { promptVersionId: firstVersionId },
  });
  expect(ofUnknownPrompt.http).toBe(404);

  const withSlash = await service.call('PUT', '/prompts/x%2fsummary/labels/beta', {
    body: { promptVersionId: firstVersionId },
  });
  expect(withSlash.http).toBe(422);
  expect(await listLabels()).toEqual([]);
});

test('a label that was never set cannot be removed: 404', async () => {
  expect((await removeLabel('beta')).http).toBe(404);
});

test('concurrent moves of a label form one chain, each from where the one before led', async () => {
  await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      setLabel('busy', index % 2 === 0 ? firstVersionId : secondVersionId),
    ),
  );
  const moves = (await listVersions())
    .flatMap(row => row.history ?? [])
    .filter(({ label }) => label === 'busy')
    .map(({ from, to }) => ({ from, to }));

  // The order in which they are listed is not that of the moves.
  expect(moves.length).toBeGreaterThan(0);
  let versionId: string | null = null;
  const remaining = [...moves];
  while (remaining.length > 0) {
    const index = remaining.findIndex(({ from }) => from === versionId);
    expect(index).toBeGreaterThanOrEqual(0);
    versionId = remaining.splice(index, 1)[0]?.to ?? null;
  }

  await removeLabel('busy');
});

test('the labels of a withdrawn prompt cannot be changed, and are back once it is published again', async () => {
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
