import { chown, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wireModel } from '../../../src/service/models/entry.ts';
import { resourcesHash } from '../../../src/service/models/resources-view.ts';
import { loadModels, type ModelTable } from '../../../src/service/models/table.ts';
import type { Model } from '../../../src/wire/index.ts';

let dataDir: string;
let table: ModelTable | undefined;
let problems: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'models-'));
  problems = [];
});

afterEach(async () => {
  table?.close();
  await rm(dataDir, { recursive: true });
});

async function load(env: Record<string, string> = {}, watch = false): Promise<ModelTable> {
  table = await loadModels({ dataDir, env, watch, onProblem: error => problems.push(error.message) });
  return table;
}

const names = (): string[] => (table?.list() ?? []).map(({ model }) => model);
const modelsFile = (...models: string[]): string =>
  `models: [${models.map(model => `{model: ${model}, modality: text, provider: here}`).join(', ')}]\nproviders: {here: {baseUrl: "http://localhost:1/v1"}}\n`;
const write = (text: string): Promise<void> => writeFile(path.join(dataDir, 'models.yaml'), text);

/** Resolves at the next change of the list, or the next problem. */
function nextNews(): Promise<void> {
  return new Promise(resolve => {
    const told = problems.length;
    const push = problems.push.bind(problems);
    problems.push = (...items) => {
      resolve();
      return push(...items);
    };
    const stop = table?.onChange(() => {
      stop?.();
      if (problems.length === told) resolve();
    });
  });
}

describe('the models of the service', () => {
  it('are four without being told anything', async () => {
    await load();
    expect(table?.list().map(wireModel)).toEqual([
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

  it('do not grow by a key alone: how to discover those it opens is told', async () => {
    await load({ OPENAI_API_KEY: 'x' });
    expect(names()).toEqual(['echo', 'card', 'clip', 'sandbox']);
    expect(table?.get('gpt-5')).toBeUndefined();
    expect(table?.explainMissing('gpt-5')).toMatch(/^there is no model `gpt-5`: .*promptrun models discover/);
  });

  it('are also found by their aliases; how to add one is told for a name of another service', async () => {
    await write(`${modelsFile('llama')}modelAliases: {googleai/gemini-2.5-pro: llama, quick: echo}\n`);
    await load();
    expect(table?.get('googleai/gemini-2.5-pro')?.model).toBe('llama');
    expect(table?.get('quick')?.model).toBe('echo');
    expect(table?.get('googleai/other')).toBeUndefined();
    expect(table?.explainMissing('googleai/other')).toMatch(
      /models\.yaml: modelAliases: \{googleai\/other: <model>\}$/,
    );
  });

  it('are not those of an address that is not a URL, which is told', async () => {
    await load({ OPENAI_BASE_URL: 'http//nowhere' });
    expect(table?.get('llama3.2')).toBeUndefined();
    expect(problems).toEqual(['OPENAI_BASE_URL must be an http or https URL, such as https://host/v1']);
    expect(table?.explainMissing('llama3.2')).toContain('OPENAI_BASE_URL must be');
  });

  it('are whatever it calls them at an endpoint of one’s own', async () => {
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
    expect(table?.get('unheard-of')).toBeUndefined();
  });

  it('are the built-in ones where models.yaml is bad, and that is told', async () => {
    await write('models: 1');
    await load();
    expect(names()).toEqual(['echo', 'card', 'clip', 'sandbox']);
    expect(problems).toEqual([expect.stringMatching(/models\.yaml:1: models must be a list/)]);
  });

  it.skipIf(process.getuid?.() !== 0)('are not those of a models.yaml of another user', async () => {
    await write(modelsFile('theirs'));
    await chown(path.join(dataDir, 'models.yaml'), 12_345, 12_345);
    await load();
    expect(table?.get('theirs')).toBeUndefined();
    expect(problems).toEqual([expect.stringMatching(/belongs to another user and is not read/)]);
  });

  it('follow models.yaml as it comes, changes, breaks and goes', async () => {
    await load({}, true);
    const follow = async (change: () => Promise<void>): Promise<string[]> => {
      const news = nextNews();
      await change();
      await news;
      return names().slice(4);
    };
    expect(await follow(() => write(modelsFile('one')))).toEqual(['one']);
    const other = path.join(dataDir, '.models.yaml.swp');
    await writeFile(other, modelsFile('one', 'two'));
    expect(await follow(() => rename(other, path.join(dataDir, 'models.yaml')))).toEqual(['one', 'two']);
    expect(await follow(() => write('models: ['))).toEqual(['one', 'two']);
    expect(problems).toHaveLength(1);
    expect(await follow(() => rm(path.join(dataDir, 'models.yaml')))).toEqual([]);
  });
});

describe('the hash of the models', () => {
  it('is base64url, and the same whatever order fields come in', () => {
    const hash = resourcesHash([
      { model: 'a', modality: 'text', availableRunOptions: [{ key: 'k', options: ['1', '2'] }] },
    ]);
    expect(hash).toMatch(/^[\w-]{43}$/);
    const turned: Model = {
      availableRunOptions: [{ options: ['1', '2'], key: 'k' }],
      modality: 'text',
      model: 'a',
    };
    expect(resourcesHash([turned])).toBe(hash);
  });

  it('changes with any of them', async () => {
    await load();
    const models = (table?.list() ?? []).map(wireModel);
    const hashes = [
      models,
      models.slice(1),
      [...models, ...models],
      [{ ...models[0], model: 'b' } as (typeof models)[0]],
      [],
    ].map(resourcesHash);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
