import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type DiscoveryResult,
  discoverModels,
} from '../../../src/models/catalogue/discover-models.ts';
import { loadModels } from '../../../src/models/catalogue/model-table.ts';
import {
  buildModelsReport,
  type ModelsReport,
} from '../../../src/models/catalogue/report-models.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { FakeProvider } from '../../support/providers/fake-provider.ts';
import { isPosix } from '../../support/system.ts';

const { signal } = new AbortController();
const KEY = 'sk-secret-0123456789';
let dataDir: string;
let provider: FakeProvider;

/** Nobody listens where Ollama would. */
const NOWHERE = { OLLAMA_HOST: '127.0.0.1:9' };

beforeEach(async () => {
  dataDir = createTemporaryDirectory();
  provider = await FakeProvider.start();
});

afterEach(async () => {
  await provider.close();
});

const getModelsFile = (): string => path.join(dataDir, 'models.yaml');
const write = (text: string): Promise<void> => writeFile(getModelsFile(), text);

const listingAnswer = (...ids: string[]): { body: object } => ({
  body: { object: 'list', data: ids.map(id => ({ id, object: 'model' })) },
});

async function discover(env: Record<string, string>): Promise<DiscoveryResult> {
  return await discoverModels({ dataDir, env: { ...NOWHERE, ...env }, signal });
}

async function listModelNames(): Promise<string[]> {
  const problems: Error[] = [];
  const onProblem = (error: Error): void => void problems.push(error);
  const table = await loadModels({ dataDir, env: {}, watch: false, onProblem });

  expect(problems).toEqual([]);

  return table
    .list()
    .map(({ model, modality }) => `${model} ${modality}`)
    .slice(4);
}

describe('discovering models', () => {
  it.runIf(isPosix)(
    'asks the endpoint of the environment with its key, and writes what it has',
    async () => {
      provider.reset(listingAnswer('small', 'gpt-image-9', 'text-embedding-9', 'whisper-9'));
      const discovery = await discover({
        OPENAI_API_KEY: KEY,
        OPENAI_BASE_URL: `${provider.baseUrl}/`,
      });

      expect(provider.requests).toMatchObject([
        { path: '/v1/models', headers: { authorization: `Bearer ${KEY}` } },
      ]);
      expect(discovery.file).toBe(getModelsFile());
      expect(discovery.endpoints).toMatchObject([
        { provider: 'openai', added: ['small', 'gpt-image-9'], known: 0, others: 2 },
      ]);
      expect(await listModelNames()).toEqual(['small text', 'gpt-image-9 image']);
      expect(await readFile(getModelsFile(), 'utf8')).not.toContain(KEY);
      expect((await stat(getModelsFile())).mode & 0o777).toBe(0o600);
    },
  );

  it('finds an Ollama by itself, and says nothing of one that does not run', async () => {
    provider.reset(listingAnswer('llama3.2:latest'));
    const { endpoints } = await discover({ OLLAMA_HOST: new URL(provider.baseUrl).host });
    expect(endpoints).toMatchObject([{ provider: 'ollama', added: ['llama3.2:latest'] }]);
    expect(await listModelNames()).toEqual(['llama3.2:latest text']);
    await rm(getModelsFile());
    expect((await discover({})).endpoints).toEqual([]);
    await expect(stat(getModelsFile())).rejects.toThrow('ENOENT');
  });

  it('asks the providers of models.yaml as well, and leaves its entries unchanged', async () => {
    const text = [
      '# mine',
      'models:',
      '  - {model: quick, modality: text, provider: corner, id: small} # the good one',
      'providers:',
      `  corner: {baseUrl: "${provider.baseUrl}", headers: {X-Team: blue}}`,
      'modelAliases: {googleai/x: quick}',
      '',
    ].join('\n');
    await write(text);
    provider.reset(listingAnswer('small', 'large', 'echo'));
    const { endpoints } = await discover({});

    expect(provider.requests[0]?.headers['x-team']).toBe('blue');
    expect(endpoints).toMatchObject([
      { provider: 'corner', added: ['large', 'corner/echo'], known: 1 },
    ]);
    expect(await listModelNames()).toEqual(['quick text', 'large text', 'corner/echo text']);

    const modelsFile = await readFile(getModelsFile(), 'utf8');
    for (const line of ['# mine', '# the good one', 'googleai/x: quick']) {
      expect(modelsFile).toContain(line);
    }

    provider.reset(listingAnswer('small', 'large', 'echo'));
    expect((await discover({})).endpoints).toMatchObject([{ added: [], known: 3 }]);
    expect(await readFile(getModelsFile(), 'utf8')).toBe(modelsFile);
  });

  it.each([
    [{ status: 401, body: { error: 'no' } }, /refuses the key \(401\): check OPENAI_API_KEY/],
    [{ status: 404 }, /no \/models \(404\): check OPENAI_BASE_URL, which usually ends in \/v1$/],
    [
      { status: 301, headers: { location: 'https://other.example/v1/models' } },
      /redirects to https:\/\/other/,
    ],
    [{ body: '<html>' }, /not a list of models/],
    [{ body: {} }, /not a list of models/],
    [{ status: 500 }, /answered 500/],
  ])("says why an endpoint can't be asked, and writes nothing: %j", async (answer, reason) => {
    provider.reset(answer);
    const { endpoints } = await discover({
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: provider.baseUrl,
    });
    expect(endpoints).toMatchObject([
      { fault: expect.stringMatching(reason) as string, added: [] },
    ]);
    await expect(stat(getModelsFile())).rejects.toThrow('ENOENT');
  });

  it('reports an address at which nobody listens, and one that is not a URL', async () => {
    expect((await discover({ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' })).endpoints).toMatchObject([
      { fault: 'nothing listens there' },
    ]);
    expect((await discover({ OPENAI_BASE_URL: 'nowhere' })).endpoints).toMatchObject([
      { fault: expect.stringMatching(/^OPENAI_BASE_URL must be/) as string },
    ]);
  });

  it('fills in prices and shutdown dates of an endpoint, and keeps those in the file', async () => {
    await write(
      `providers: {corner: {baseUrl: "${provider.baseUrl}"}}\nmodels:\n  - {model: old, modality: text, provider: corner} # mine\n  - {model: own, modality: text, provider: corner, price: {input: 1, output: 2}}\n`,
    );
    const pricing = {
      prompt: '0.00000015',
      completion: '0.0000006',
      input_cache_read: '0.000000075',
    };

    const ids = ['old', 'own', 'new'];
    const body = { data: ids.map(id => ({ id, pricing, shutdown_date: '2026-12-01' })) };
    provider.reset({ body });

    expect((await discover({})).endpoints).toMatchObject([{ added: ['new'], known: 2 }]);

    const table = await loadModels({ dataDir, env: {}, watch: false, onProblem: () => {} });
    const price = { input: 0.15, output: 0.6, cachedInput: 0.075 };

    expect(ids.map(id => table.get(id))).toMatchObject([
      { price, shutdownDate: '2026-12-01' },
      { price: { input: 1, output: 2 }, shutdownDate: '2026-12-01' },
      { price, shutdownDate: '2026-12-01' },
    ]);
    expect(await readFile(getModelsFile(), 'utf8')).toContain('# mine');
  });

  it('a model that is listed with texts and pictures draws if its name says so, as it does unlisted', async () => {
    const makes = { output_modalities: ['image', 'text'] };
    const ids = ['flash-image', 'flash'];
    await write(`providers: {corner: {baseUrl: "${provider.baseUrl}"}}\n`);
    provider.reset({ body: { data: ids.map(id => ({ id, architecture: makes })) } });
    await discover({});
    const table = await loadModels({ dataDir, env: {}, watch: false, onProblem: () => {} });
    expect(ids.map(id => table.get(id)?.modality)).toEqual(['image', 'text']);
  });

  it('keeps a provider that was moved apart from the provider of that name', async () => {
    provider.reset(listingAnswer('tiny'));
    await discover({ OPENAI_BASE_URL: provider.baseUrl });
    const env = { OPENAI_API_KEY: KEY };
    const table = await loadModels({ dataDir, env, watch: false, onProblem: () => {} });
    expect(table.get('tiny')?.provider?.baseUrl).toBe(provider.baseUrl);
    expect(table.get('openai/gpt-9')?.provider?.baseUrl).toBe('https://api.openai.com/v1');
  });

  it('leaves the name of a model at its provider to that provider, wherever it was moved', async () => {
    await write(
      'providers: {corner: {baseUrl: "http://127.0.0.1:9/v1"}}\nmodels: [{model: tiny, modality: text, provider: corner}]\n',
    );
    provider.reset(listingAnswer('tiny'));
    await discover({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: provider.baseUrl });
    const env = { OPENAI_API_KEY: KEY };
    const table = await loadModels({ dataDir, env, watch: false, onProblem: () => {} });

    expect(table.get('openai/tiny')?.provider?.baseUrl).toBe('https://api.openai.com/v1');
  });

  it('takes nothing away from a provider that was moved to this machine', async () => {
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: provider.baseUrl };
    const table = async () => await loadModels({ dataDir, env, watch: false, onProblem: () => {} });
    const before = await table();
    provider.reset(listingAnswer('tiny'));
    await discover(env);
    const after = await table();

    expect(after.get('tiny')?.provider).toEqual(before.get('tiny')?.provider);
    expect(after.get('openai/tiny')?.provider).toEqual(before.get('openai/tiny')?.provider);

    const alone = await loadModels({
      dataDir,
      env: { OPENAI_API_KEY: KEY },
      watch: false,
      onProblem: () => {},
    });
    expect(alone.get('tiny')?.provider).toMatchObject({
      keyVariables: ['OPENAI_API_KEY'],
      takesBatches: true,
    });
  });

  it('names the variable that held the key, and how a moved provider is asked', async () => {
    provider.reset({
      body: {
        models: [{ name: 'models/gemini-9', supportedGenerationMethods: ['generateContent'] }],
      },
    });

    await discover({ GOOGLE_API_KEY: KEY, GEMINI_BASE_URL: `${provider.baseUrl}beta` });
    expect(provider.requests[0]).toMatchObject({
      path: '/v1beta/models?pageSize=1000',
      headers: { 'x-goog-api-key': KEY },
    });

    const table = await loadModels({ dataDir, env: {}, watch: false, onProblem: () => {} });
    expect(table.get('gemini-9')?.provider).toMatchObject({
      keyVariables: ['GOOGLE_API_KEY'],
      interfaceName: 'google',
    });
  });

  it("never names a model like another provider's", async () => {
    provider.reset(listingAnswer('openai/gpt-9', 'meta/llama-9'));
    const env = {
      OPENROUTER_API_KEY: KEY,
      OPENROUTER_BASE_URL: provider.baseUrl,
      OPENAI_API_KEY: KEY,
    };
    const moved = { ...env, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };

    expect((await discover(moved)).endpoints).toContainEqual(
      expect.objectContaining({
        added: [
          expect.stringMatching(/^openrouter-127\.0\.0\.1-\d+\/openai\/gpt-9$/),
          'meta/llama-9',
        ],
      }),
    );

    const table = await loadModels({ dataDir, env, watch: false, onProblem: () => {} });
    expect(table.get('openai/gpt-9')?.provider?.name).toBe('openai');
    expect(table.get('openrouter/openai/gpt-9')?.id).toBe('openai/gpt-9');
  });

  it('warns of shutdowns behind a moved address by either name of a model', async () => {
    provider.reset({
      body: { data: [{ id: 'old', type: 'model', retires_at: '2020-02-01T00:00:00Z' }] },
    });
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: new URL(provider.baseUrl).origin };
    await discover(env);

    const table = await loadModels({ dataDir, env, watch: false, onProblem: () => {} });
    for (const name of ['old', 'anthropic/old']) {
      expect(table.get(name)).toMatchObject({
        shutdownDate: '2020-02-01',
        provider: { name: 'anthropic' },
      });
    }
  });

  it('names the new models that have no price', async () => {
    const pricing = { prompt: '0.000001', completion: '0.000002' };
    provider.reset({ body: { data: [{ id: 'priced', pricing }, { id: 'unpriced' }] } });
    await write(`providers: {corner: {baseUrl: "${provider.baseUrl}"}}\n`);
    expect((await discover({})).endpoints).toMatchObject([
      { added: ['priced', 'unpriced'], unpriced: ['unpriced'] },
    ]);
  });

  it('takes a model that an endpoint lists twice once', async () => {
    provider.reset(listingAnswer('one', 'two', 'one'));
    const discovery = await discover({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: provider.baseUrl });
    expect(discovery.endpoints).toMatchObject([{ added: ['one', 'two'], known: 0, others: 0 }]);
    expect(await listModelNames()).toEqual(['one text', 'two text']);
  });

  it('takes no name that could not be written as it is', async () => {
    provider.reset(listingAnswer('a b', 'x\u001b[31m', 'y\nmodels: []', '', 'fine:1', '- {a: b}'));
    expect((await discover({ OPENAI_BASE_URL: provider.baseUrl })).endpoints).toMatchObject([
      { added: ['fine:1'], others: 5 },
    ]);
  });

  it("changes nothing of a models.yaml that can't be read", async () => {
    await write('models: [');
    await expect(discover({ OPENAI_BASE_URL: provider.baseUrl })).rejects.toMatchObject({
      code: 'INVALID_MODELS_FILE',
    });
    expect(await readFile(getModelsFile(), 'utf8')).toBe('models: [');
    expect(provider.requests).toEqual([]);
  });
});

describe('the report on models', () => {
  const report = (env: Record<string, string>, asksProviders = true): Promise<ModelsReport> =>
    buildModelsReport({ dataDir, env, signal, asksProviders });

  it('reports every fault of models.yaml with file and line', async () => {
    await write('models:\n  - {model: x}\nproviders:\n  here: {baseUrl: nowhere}\n');
    expect((await report({})).faults).toEqual([
      expect.stringContaining('models.yaml:2: '),
      expect.stringContaining('models.yaml:4: baseUrl must be'),
    ]);
  });

  it('asks each provider, and reports missing keys', async () => {
    provider.reset(listingAnswer('a', 'b'));
    await write(
      `providers:\n  here: {baseUrl: "${provider.baseUrl}"}\n  gone: {baseUrl: "http://127.0.0.1:9/v1"}\n  there: {baseUrl: "https://models.example/v1", apiKeyEnv: THERE_KEY}\n`,
    );
    const { providers, faults, exists } = await report({});

    expect({ faults, exists }).toEqual({ faults: [], exists: true });
    expect(providers).toMatchObject([
      { name: 'here', models: 2 },
      { name: 'gone', fault: 'nothing listens there' },
      { name: 'there', missingKey: 'THERE_KEY' },
    ]);

    provider.reset();
    await report({}, false);

    expect(provider.requests).toEqual([]);
  });

  it('asks an endpoint once, and none that has no list of models', async () => {
    provider.reset(listingAnswer('a'));
    const env = {
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: provider.baseUrl,
      AZURE_API_KEY: KEY,
      AZURE_RESOURCE_NAME: 'mine',
    };
    await discover(env);

    expect(provider.requests).toHaveLength(1);

    provider.reset(listingAnswer('a'));
    expect((await report(env)).providers).toEqual([
      { name: expect.stringMatching(/^openai-/) as string, baseUrl: provider.baseUrl, models: 1 },
      { name: 'azure', baseUrl: 'https://mine.openai.azure.com/openai/v1' },
    ]);
    expect(provider.requests).toHaveLength(1);
  });

  it('reports nothing if nothing is configured', async () => {
    expect(await report({})).toEqual({
      file: getModelsFile(),
      exists: false,
      faults: [],
      providers: [],
      shutdowns: [],
    });
    expect((await report({ OPENAI_BASE_URL: 'x' })).faults).toHaveLength(1);
  });
});
