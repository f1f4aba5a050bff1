import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalStore, openStore } from '../../../src/service/index.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { TestService } from '../../support/local-service.ts';

let service: TestService;
let store: LocalStore;
let directory: string;

beforeAll(async () => {
  service = await TestService.start();
  store = await openStore({ dataDir: service.dataDir, env: {} });
});

afterAll(async () => {
  await store.close();
  await service.close();
});

beforeEach(() => {
  directory = createTemporaryDirectory();
});

async function promptFile(slug: string, source: string): Promise<string> {
  const file = path.join(directory, `${slug}.prompt`);
  await writeFile(file, source);
  return file;
}

interface Run {
  runStatus: string;
  outputs: { type: string; data: string }[];
}

const run = async (promptVersionId: string, inputs = {}): Promise<Run> =>
  (await service.post<Run>('/runs', { promptVersionId, inputs: { textInputs: inputs } })).data;

describe('a version that is not published', () => {
  it('of a file can be run and read by its id, and is otherwise nowhere', async () => {
    const file = await promptFile('secret-plan', '---\ntitle: Secret plan\n---\nHi {{name}}');
    const { promptVersionId, promptId, slug } = await store.ensureUnlistedVersion({ file });

    expect(slug).toBe('secret-plan');
    expect(await run(promptVersionId, { name: 'Ada' })).toMatchObject({
      runStatus: 'succeeded',
      outputs: [{ type: 'text', data: 'Hi Ada' }],
    });

    const read = await service.data(`/prompt-versions/${promptVersionId}`);
    expect(read).toMatchObject({
      title: 'Secret plan',
      config: { textInputs: { name: { required: true } } },
    });
    expect((await service.get(`/prompts/${promptId}`)).http).toBe(404);
    expect((await service.get(`/prompts/${promptId}/versions`)).http).toBe(404);
    await expect(service.find('secret-plan')).rejects.toThrow('not published');
    expect((await store.ensureUnlistedVersion({ file })).promptVersionId).toBe(promptVersionId);
  });

  it.each([
    ['gpt-4o', 'openai'],
    ['o4-mini', 'openai'],
    ['claude-sonnet-4-0', 'anthropic'],
    ['gemini-2.5-flash', 'googleai'],
  ])('of a template of `llm` asks the provider of %s', async (model, provider) => {
    const file = path.join(directory, 'template.yaml');
    await writeFile(file, `prompt: Hi\nmodel: ${model}\n`);
    const { promptVersionId } = await store.ensureUnlistedVersion({ file });
    const answer = await service.post('/runs', { promptVersionId, inputs: {} });
    expect(answer.message).toContain(`the model ${provider}/${model} can't be used here`);
  });

  it('of a template of `llm` uses the model of that name in models.yaml', async () => {
    const dataDir = path.join(directory, 'data');
    await mkdir(dataDir);
    const models = 'modelAliases: {gpt-4o: echo}\n';
    await writeFile(path.join(dataDir, 'models.yaml'), models);
    const file = path.join(directory, 'template.yaml');
    await writeFile(file, 'prompt: Hi\nmodel: gpt-4o\n');

    const own = await openStore({ dataDir, env: {} });
    try {
      const { promptVersionId } = await own.ensureUnlistedVersion({ file });
      expect(await own.findDefinition(promptVersionId)).toMatchObject({ model: 'gpt-4o' });
    } finally {
      await own.close();
    }
  });

  it('leaves published prompts unchanged, before and after', async () => {
    const file = await promptFile('plan', 'first');
    const published = await store.publish(file);
    await writeFile(file, 'second');
    const unlisted = await store.ensureUnlistedVersion({ file });

    expect(await service.versionOf('plan')).toBe(published.promptVersionId);

    const second = await store.publish(file);
    expect(second).toMatchObject({ changed: true });
    expect(second.promptVersionId).not.toBe(unlisted.promptVersionId);

    const { versions } = await service.data<{ versions: { promptVersionId: string }[] }>(
      `/prompts/${published.promptId}/versions`,
    );
    expect(versions.map(({ promptVersionId }) => promptVersionId)).toEqual([
      second.promptVersionId,
      published.promptVersionId,
    ]);

    await store.unpublish('plan');
    expect((await service.get(`/prompt-versions/${second.promptVersionId}`)).http).toBe(404);
    expect((await run(unlisted.promptVersionId)).outputs).toEqual([
      { type: 'text', data: 'second' },
    ]);
  });

  it('runs a published prompt with another model, found by its slug or an id', async () => {
    const { promptId, promptVersionId } = await service.find('hello');
    const bySlug = await store.ensureUnlistedVersion({ slug: 'hello', model: 'sandbox' });

    expect(bySlug).toMatchObject({ promptId, model: 'sandbox' });
    expect(bySlug.promptVersionId).not.toBe(promptVersionId);

    for (const id of [promptVersionId, promptId]) {
      expect(await store.ensureUnlistedVersion({ promptVersionId: id, model: 'sandbox' })).toEqual(
        bySlug,
      );
    }

    const body = {
      promptVersionId: bySlug.promptVersionId,
      inputs: { textInputs: { name: 'Ada' } },
    };
    const failed = await service.post<Run>('/runs', { ...body, runOptions: { outcome: 'failed' } });

    expect(failed.data.runStatus).toBe('failed');
    expect(await service.versionOf('hello')).toBe(promptVersionId);
  });

  it('of a published prompt without another model is the published version', async () => {
    const { promptVersionId } = await service.find('hello');
    expect(await store.ensureUnlistedVersion({ slug: 'hello' })).toMatchObject({ promptVersionId });
    expect(await store.ensureUnlistedVersion({ slug: 'hello', model: 'echo' })).toMatchObject({
      promptVersionId,
    });
  });

  it('is refused if its prompt or model does not exist', async () => {
    await expect(
      store.ensureUnlistedVersion({ slug: 'hello', model: 'gpt-9' }),
    ).rejects.toMatchObject({
      code: 'UNKNOWN_MODEL',
      message: expect.stringContaining('the model `gpt-9` does not exist') as string,
    });
    await expect(store.ensureUnlistedVersion({ slug: 'nobody' })).rejects.toMatchObject({
      code: 'UNKNOWN_PROMPT',
    });
  });
});
