import { chown, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadModels, type ModelTable } from '../../../src/models/catalogue/model-table.ts';
import { hashModels } from '../../../src/models/catalogue/resources-view.ts';
import { toWireModel } from '../../../src/models/model-entry.ts';
import type { Model } from '../../../src/wire/index.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

let dataDir: string;
let table: ModelTable | undefined;
let problems: string[];

beforeEach(() => {
  dataDir = createTemporaryDirectory();
  problems = [];
});

afterEach(() => {
  table?.close();
});

async function load(env: Record<string, string> = {}, watch = false): Promise<ModelTable> {
  table = await loadModels({
    dataDir,
    env,
    watch,
    onProblem: error => problems.push(error.message),
  });
  return table;
}

const names = (): string[] => (table?.list() ?? []).map(({ model }) => model);

const modelsFile = (...models: string[]): string =>
  `models: [${models.map(model => `{model: ${model}, modality: text, provider: here}`).join(', ')}]\nproviders: {here: {baseUrl: "http://localhost:1/v1"}}\n`;

const write = (text: string): Promise<void> => writeFile(path.join(dataDir, 'models.yaml'), text);

/** Resolves at the next change of the list, or the next problem. */
function waitForNews(): Promise<void> {
  return new Promise(resolve => {
    const reportedCount = problems.length;
    const push = problems.push.bind(problems);
    problems.push = (...items) => {
      resolve();
      return push(...items);
    };
    const stop = table?.onChange(() => {
      stop?.();
      if (problems.length === reportedCount) resolve();
    });
  });
}

describe('the models of the service', () => {
  it('are the four built-in ones without any configuration', async () => {
    await load();
    expect(table?.list().map(toWireModel)).toEqual([
      { model: 'echo', modality: 'text', availableRunOptions: [] },
      {
        model: 'card',
        modality: 'image',
        availableRunOptions: [{ key: 'quality', options: ['low', 'medium', 'high'] }],
      },
      { model: 'clip', modality: 'video', availableRunOptions: [] },
      {
        model: 'sandbox',
        modality: 'text',
        availableRunOptions: [
          { key: 'delaySeconds', options: ['0', '1', '5', '30', '130'] },
          { key: 'outcome', options: ['succeeded', 'failed', 'partial'] },
        ],
      },
    ]);

    expect(table?.get('echo')?.credits).toBe(1);
    expect(table?.get('constructor')).toBeUndefined();
    expect(problems).toEqual([]);
  });

  it('are also those of the only provider whose key is set, by their own names', async () => {
    await load({ OPENAI_API_KEY: 'x' });
    expect(names()).toEqual(['echo', 'card', 'clip', 'sandbox']);
    expect(table?.get('gpt-9')).toMatchObject({
      id: 'gpt-9',
      guessedFrom: 'key',
      provider: { name: 'openai' },
    });

    await load({ OPENAI_API_KEY: 'x', ANTHROPIC_API_KEY: 'y' });
    expect(table?.get('gpt-9')).toBeUndefined();
    expect(table?.explainMissing('gpt-9')).toMatch(
      /^the model `gpt-9` does not exist; the models are .*openai\/gpt-9, anthropic\/gpt-9.*promptrun models discover/,
    );
  });

  it("are not Claude Code's shorthands, which no provider takes", async () => {
    await load();
    expect(table?.explainMissing('sonnet')).toBe(
      'the model `sonnet` does not exist: only Claude Code knows it; give a model with -m, or add to models.yaml: modelAliases: {sonnet: <model>}',
    );
  });

  it('may have their provider before their name, and nothing else', async () => {
    await load();
    expect(table?.get('anthropic/claude-9')).toMatchObject({
      engine: 'provider',
      provider: { interfaceName: 'anthropic' },
      id: 'claude-9',
      guessedFrom: 'prefix',
    });

    for (const prefix of ['google', 'gemini', 'googleai']) {
      expect(table?.get(`${prefix}/gemini-9`)?.provider?.name).toBe('googleai');
    }

    expect(table?.get('openrouter/meta-llama/llama-9')?.id).toBe('meta-llama/llama-9');
    expect(table?.get('openai/gpt-image-9')?.modality).toBe('image');
    expect(table?.get('meta-llama/llama-9')).toBeUndefined();
    expect(table?.get('openai/')).toBeUndefined();
    expect(table?.explainMissing('meta-llama/llama-9')).toMatch(
      /neither does a provider `meta-llama`; the providers are openai, anthropic, .*vllm; .*models\.yaml: modelAliases: \{meta-llama\/llama-9: <model>\}$/,
    );
    expect(table?.explainMissing('opnai/gpt-9/mini')).toMatch(
      /^the model `opnai\/gpt-9\/mini` does not exist, and neither does a provider `opnai`; did you mean openai\/gpt-9\/mini\? The providers are openai, /,
    );
    expect(table?.explainMissing('gemini/')).toBe(
      'the model `gemini/` does not exist: after gemini/ comes the name of a model',
    );
  });

  it.each(['', ' '])('are never guessed from an empty name: %j', async name => {
    await load({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://localhost:1/v1' });
    expect(table?.get('any')?.provider?.name).toBe('openai');
    expect(table?.get(name)).toBeUndefined();
    expect(table?.explainMissing(name)).toBe('the name of the model is empty');
  });

  it('are also found by their aliases', async () => {
    await write(
      `${modelsFile('llama')}modelAliases: {googleai/gemini-2.5-pro: llama, quick: echo}\n`,
    );
    await load();

    expect(table?.get('googleai/gemini-2.5-pro')?.model).toBe('llama');
    expect(table?.get('quick')?.model).toBe('echo');
    expect(table?.get('googleai/other')?.provider?.name).toBe('googleai');
    expect(table?.get('here/x')?.provider?.baseUrl).toBe('http://localhost:1/v1');
  });

  it('with a fault in models.yaml are not replaced by others', async () => {
    await write(
      'models: [{model: mine, modality: smell, provider: openai}]\nmodelAliases: {short: nowhere/x}',
    );
    await load({ OPENAI_API_KEY: 'k' });

    expect(table?.get('mine')).toBeUndefined();
    expect(table?.get('short')).toBeUndefined();
    expect(table?.explainMissing('mine')).toMatch(/its entry in models\.yaml is invalid$/);
    expect(table?.get('other')).toMatchObject({ guessedFrom: 'key' });

    const modelsFile = path.join(dataDir, 'beside.yaml');
    await writeFile(modelsFile, 'models: [{model: theirs, modality: smell, provider: openai}]');
    table = await loadModels({ dataDir, env: {}, modelsFile, watch: false, onProblem: () => {} });

    expect(table.explainMissing('theirs')).toMatch(/its entry in the file of --models is invalid$/);

    await write('models: [{model: theirs, modality: text, provider: openai}]');
    table = await loadModels({ dataDir, env: {}, modelsFile, watch: false, onProblem: () => {} });

    expect(table.get('theirs')).toBeUndefined();
  });

  it('of a provider whose entry in models.yaml has a fault are not requested from another address', async () => {
    await write('providers: {openai: {baseUrl: nowhere}}');
    await load({ OPENAI_API_KEY: 'k' });

    expect(table?.get('openai/x')).toBeUndefined();
    expect(table?.get('x')).toBeUndefined();
    expect(table?.explainMissing('openai/x')).toContain(
      'the entry of the provider `openai` in models.yaml is invalid',
    );

    await write('providers: [');
    await load({ OPENAI_API_KEY: 'k' });

    expect(table?.get('openai/x')).toBeUndefined();
    expect(table?.explainMissing('openai/x')).toContain("models.yaml can't be read");
    expect(table?.explainMissing('openai/x')).not.toContain(dataDir);
  });

  it('may have any name at an endpoint whose address the user sets', async () => {
    await load({ OPENAI_BASE_URL: 'http://localhost:11434/v1' });
    expect(names()).toEqual(['echo', 'card', 'clip', 'sandbox']);
    expect(table?.get('llama3.2')).toMatchObject({
      modality: 'text',
      provider: { baseUrl: 'http://localhost:11434/v1' },
    });
    expect(table?.get('stable-diffusion')).toMatchObject({ modality: 'image' });
    expect(table?.get('echo')?.engine).toBe('echo');
  });

  it('grow by those of models.yaml, which may name the provider of the environment', async () => {
    await write('models: [{model: gpt-5, modality: text, provider: openai, credits: 7}]');
    await load({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: 'https://api.openai.com/v1' });
    expect(table?.get('gpt-5')?.credits).toBe(7);
    expect(names().filter(name => name === 'gpt-5')).toHaveLength(1);
  });

  it('keep the interface that models.yaml names, at the address of the environment too', async () => {
    const provider = '{baseUrl: "http://localhost:1/v1", engine: openai-responses}';
    await write(
      `providers: {mine: ${provider}, own: {baseUrl: "http://localhost:1/v1"}}\nmodels: [{model: a, modality: text, provider: mine}, {model: b, modality: text, provider: own}]`,
    );
    await load({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: 'http://localhost:1/v1' });
    expect(table?.get('a')?.provider).toMatchObject({
      name: 'mine',
      interfaceName: 'openai-responses',
    });
    expect(table?.get('b')?.provider).toMatchObject({ name: 'openai', interfaceName: 'openai' });
  });

  it('are the built-in ones if models.yaml is damaged, which is reported', async () => {
    await write('models: 1');
    await load();
    expect(names()).toEqual(['echo', 'card', 'clip', 'sandbox']);
    expect(problems).toEqual([
      expect.stringMatching(
        /^\S+models\.yaml:1: models must be a list.* \(left out; the rest is used\)$/,
      ),
    ]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'are not those of a models.yaml of another user',
    async () => {
      await write(modelsFile('theirs'));
      await chown(path.join(dataDir, 'models.yaml'), 12_345, 12_345);
      await load();
      expect(table?.get('theirs')).toBeUndefined();
      expect(problems).toEqual([expect.stringMatching(/belongs to another user and is not read/)]);
    },
  );

  it('may have a prefix again once a models.yaml that could not be read is removed', async () => {
    await write(`# ${'x'.repeat(2 ** 20)}`);
    await load({ OPENAI_API_KEY: 'k' }, true);
    expect(table?.get('openai/gpt-9')).toBeUndefined();
    expect(problems).toEqual([expect.stringMatching(/is larger than 1 MiB/)]);

    const news = waitForNews();
    await rm(path.join(dataDir, 'models.yaml'));
    await news;
    expect(table?.get('openai/gpt-9')).toMatchObject({ id: 'gpt-9' });
  });

  it('follow models.yaml as it comes, changes, breaks and goes', async () => {
    await load({}, true);

    const follow = async (change: () => Promise<void>): Promise<string[]> => {
      const news = waitForNews();
      await change();
      await news;
      return names().slice(4);
    };

    expect(await follow(() => write(modelsFile('one')))).toEqual(['one']);

    const other = path.join(dataDir, '.models.yaml.swp');
    await writeFile(other, modelsFile('one', 'two'));

    expect(await follow(() => rename(other, path.join(dataDir, 'models.yaml')))).toEqual([
      'one',
      'two',
    ]);
    expect(await follow(() => write('models: ['))).toEqual(['one', 'two']);
    expect([...problems]).toEqual([
      expect.stringMatching(/^models\.yaml not read: \S+models\.yaml:\d+: /),
    ]);
    expect(await follow(() => rm(path.join(dataDir, 'models.yaml')))).toEqual([]);
  });
});

describe('the hash of the models', () => {
  it('is base64url, and the same whatever order fields come in', () => {
    const hash = hashModels([
      { model: 'a', modality: 'text', availableRunOptions: [{ key: 'k', options: ['1', '2'] }] },
    ]);
    expect(hash).toMatch(/^[\w-]{43}$/);
    const turned: Model = {
      availableRunOptions: [{ options: ['1', '2'], key: 'k' }],
      modality: 'text',
      model: 'a',
    };
    expect(hashModels([turned])).toBe(hash);
  });

  it('changes with any of them', async () => {
    await load();
    const models = (table?.list() ?? []).map(toWireModel);
    const hashes = [
      models,
      models.slice(1),
      [...models, ...models],
      [{ ...models[0], model: 'b' } as (typeof models)[0]],
      [],
    ].map(hashModels);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
