import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GUIDES } from '../../../src/cli/commands/help/help.ts';
import {
  computeResourceScope,
  LOCAL_SCOPE,
} from '../../../src/cli/settings/caches/resource-cache.ts';
import { localService } from '../../../src/main.ts';
import { createTemporaryDirectory, runInProcess, type TestOptions } from '../../support/context.ts';
import { TestService } from '../../support/local-service.ts';

const VERSION_ID = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const OTHER_VERSION_ID = '1b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const PROMPT_ID = '3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11';
const RUN_ID = '9d9e5f04-92b8-4f0a-a3ac-2a24c0a1e2f3';
const BASE_URL = 'https://prompts.example/v1';

/** Returns the completions of the last word, which fish passes unfinished. */
async function complete(words: readonly string[], options: TestOptions = {}): Promise<string[]> {
  const { stdout, stderr, exitCode } = await runInProcess(
    ['__complete', 'fish', '--', ...words],
    options,
  );
  expect(stderr()).toBe('');
  expect(exitCode).toBe(0);
  return stdout()
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.split('\t')[0] ?? '');
}

/** Creates a home directory with these files; contents that are not strings are written as JSON. */
function createHome(files: Readonly<Record<string, unknown>>): string {
  const directory = createTemporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

/** Returns prompts.json with a version of the same prompt for each config. */
function createPromptCache(...configs: readonly unknown[]): object {
  return {
    versions: configs.map((config, index) => ({
      service: 'local',
      version: {
        promptVersionId: index === 0 ? VERSION_ID : OTHER_VERSION_ID,
        promptId: PROMPT_ID,
        title: `Prompt ${index}`,
        publishedAt: '2026-01-01T00:00:00Z',
        config,
      },
    })),
  };
}

/** Returns the entry of resources.json for a service. */
function createCachedModels(scope: string, ...names: readonly string[]): object {
  const availableRunOptions = [
    { key: 'quality', options: ['low', 'high'] },
    { key: 'size', options: ['16:9'] },
  ];
  return {
    scope,
    service: 'any',
    hash: 'h',
    fetchedAt: '2026-01-01T00:00:00Z',
    models: names.map(model => ({ model, modality: 'text', availableRunOptions })),
  };
}

describe('commands and flags', () => {
  it('offers every command, and none that is hidden', async () => {
    const commands = await complete(['']);
    expect(commands).toEqual(
      expect.arrayContaining(['run', 'batch', 'runs', 'models', 'serve', 'doctor']),
    );
    expect(commands).not.toContain('__complete');
  });

  it('offers the verbs of a noun, whatever the noun is called', async () => {
    expect(await complete(['versions', ''])).toEqual(['list', 'get', 'label', 'diff']);
    expect(await complete(['version', ''])).toEqual(['list', 'get', 'label', 'diff']);
  });

  it('finds the command after global flags and their values', async () => {
    expect(await complete(['--profile', 'runs', '--json', 'resources', 'l'])).toEqual(['list']);
  });

  it("offers a command's own flags and the global ones", async () => {
    const flags = await complete(['resources', 'list', '--']);
    expect(flags).toEqual(expect.arrayContaining(['--modality', '--cached', '--json', '--help']));
  });

  it('leaves out a flag that is on the line, unless it is repeatable', async () => {
    expect(await complete(['resources', 'list', '--cached', '--ca'])).toEqual([]);
    expect(await complete(['run', 'x', '--input', 'a=b', '--inpu'])).toEqual([
      '--input',
      '--inputs',
    ]);
  });

  it('offers no flags after --', async () => {
    expect(await complete(['run', '--', '--'])).toEqual([]);
  });

  it('offers nothing after a command that does not exist', async () => {
    expect(await complete(['nonsense', ''])).toEqual([]);
    expect(await complete(['runs', 'nonsense', '--'])).toEqual([]);
  });
});

describe('values', () => {
  it('offers every topic and guide of help', async () => {
    const topics = ['flags', 'environment', 'exit-codes', ...Object.keys(GUIDES)];
    expect(await complete(['help', ''])).toEqual(expect.arrayContaining(topics));
  });

  it('offers the values that a flag can take', async () => {
    expect(await complete(['runs', 'list', '--status', 's'])).toEqual(['succeeded']);
    expect(await complete(['runs', 'list', '--status=f'])).toEqual(['--status=failed']);
    expect(await complete(['models', '--modality', ''])).toEqual(['text', 'image', 'video']);
  });

  it('completes profiles and aliases', async () => {
    const config = { profiles: { work: { baseUrl: BASE_URL } }, aliases: { weekly: VERSION_ID } };
    const directory = createHome({ 'config/config.json': config });
    expect(await complete(['--profile', ''], { home: directory })).toEqual(['work', 'local']);
    expect(await complete(['profile', 'use', 'w'], { home: directory })).toEqual(['work']);
    expect(await complete(['run', 'w'], { home: directory })).toEqual(['weekly']);
    expect(await complete(['alias', 'remove', ''], { home: directory })).toEqual(['weekly']);
  });

  it('completes prompt files and directories on the way to them', async () => {
    const directory = createHome({
      'tea.prompt': '',
      'tea.txt': '',
      'teas/green.prompt': '',
      '.hidden.prompt': '',
    });
    expect(await complete(['run', 'te'], { home: directory })).toEqual(['tea.prompt', 'teas/']);
    expect(await complete(['run', './teas/'], { home: directory })).toEqual([
      './teas/green.prompt',
    ]);
    expect(await complete(['run', '~/tea.'], { home: directory })).toEqual(['~/tea.prompt']);
    expect(await complete(['run', '.'], { home: directory })).toEqual(['.hidden.prompt']);
  });

  it('completes the inputs of a prompt that was read before, and their values', async () => {
    const place = { type: 'string', required: true };
    const mood = { type: 'string', enum: ['sunny', 'rainy'] };
    const config = { textInputs: { place, mood }, imageInputs: [] };
    const aliases = { post: VERSION_ID };
    const directory = createHome({
      'config/prompts.json': createPromptCache(config),
      'config/config.json': { aliases },
      'a.txt': '',
    });

    expect(await complete(['run', VERSION_ID, '-i', ''], { home: directory })).toEqual([
      'place=',
      'mood=',
    ]);
    expect(await complete(['run', PROMPT_ID, '-i', 'm'], { home: directory })).toEqual(['mood=']);
    expect(await complete(['run', 'post', '-i', 'mood='], { home: directory })).toEqual([
      'mood=sunny',
      'mood=rainy',
    ]);
    expect(await complete(['run', 'post', '--input=mood=r'], { home: directory })).toEqual([
      '--input=mood=rainy',
    ]);
    expect(await complete(['run', 'post', '-imood=r'], { home: directory })).toEqual([
      '-imood=rainy',
    ]);
    expect(
      await complete(['run', 'post', '-i', 'mood=sunny', '-i', ''], { home: directory }),
    ).toEqual(['place=']);
    expect(await complete(['run', 'post', '-i', 'place=@a'], { home: directory })).toEqual([
      'place=@a.txt',
    ]);
  });

  it('completes run options and models from the cache', async () => {
    const directory = createHome({
      'config/resources.json': { services: [createCachedModels(LOCAL_SCOPE, 'one', 'two')] },
    });
    expect(await complete(['run', 'x', '-o', ''], { home: directory })).toEqual([
      'quality=',
      'size=',
    ]);
    expect(await complete(['run', 'x', '-o', 'quality=h'], { home: directory })).toEqual([
      'quality=high',
    ]);
    expect(await complete(['resources', 'list', '--model', ''], { home: directory })).toEqual([
      'one',
      'two',
    ]);
  });

  it('offers models only to the key that fetched them', async () => {
    const services = [
      createCachedModels(computeResourceScope(BASE_URL, 'key-a'), 'of-a'),
      createCachedModels(computeResourceScope(BASE_URL, 'key-b'), 'of-b'),
    ];
    const directory = createHome({ 'config/resources.json': { services } });
    const withKey = (key: string): TestOptions => ({
      home: directory,
      env: { PROMPTRUN_BASE_URL: BASE_URL, PROMPTRUN_API_KEY: key },
    });

    expect(await complete(['models', '--model', ''], withKey('key-b'))).toEqual(['of-b']);
    expect(await complete(['models', '--model', ''], withKey('key-c'))).toEqual([]);
  });

  it('completes runs of this service from the journal, newest first', async () => {
    const entry = (id: string, baseUrl: string): string =>
      JSON.stringify({
        id,
        time: '2026-01-01T00:00:00Z',
        baseUrl,
        promptVersionId: VERSION_ID,
        inputsDigest: '',
      });

    const outcome = (id: string, runId: string): string =>
      JSON.stringify({ id, outcome: 'ended', runId });
    const newerRunId = RUN_ID.replace('9', '8');
    const journal = [
      entry('a', 'local'),
      outcome('a', RUN_ID),
      entry('b', 'local'),
      outcome('b', newerRunId),
      entry('c', BASE_URL),
      outcome('c', PROMPT_ID),
      entry('d', 'local'),
    ];
    const directory = createHome({ 'state/journal.jsonl': `${journal.join('\n')}\n` });

    expect(await complete(['runs', 'get', ''], { home: directory })).toEqual([newerRunId, RUN_ID]);
    expect(await complete(['runs', 'list', '--starting-after', '9'], { home: directory })).toEqual([
      RUN_ID,
    ]);
  });
});

describe('prompts', () => {
  it('offers prompts of the local service with their inputs and options before any of them has run', async () => {
    const options: TestOptions = { home: createTemporaryDirectory(), local: localService };

    expect(await complete(['run', ''], options)).toEqual([]);

    await runInProcess(['prompts', 'list'], options);
    expect(await complete(['run', ''], options)).toEqual(
      expect.arrayContaining(['hello', 'postcard', 'describe', 'sandbox']),
    );

    const { stdout } = await runInProcess(['__complete', 'fish', '--', 'run', 'hel'], options);
    expect(stdout()).toBe('hello\tHello\n');
    expect(await complete(['run', 'postcard', '-i', ''], options)).toEqual(['place=', 'mood=']);
    expect(await complete(['run', 'postcard', '-i', 'mood='], options)).toEqual([
      'mood=sunny',
      'mood=rainy',
      'mood=snowy',
    ]);

    expect(await complete(['run', 'sandbox', '-o', ''], options)).toEqual([
      'delaySeconds=',
      'outcome=',
    ]);
    expect(await complete(['run', 'hello', '-o', ''], options)).toEqual([]);
    expect(await complete(['run', 'hello', '-m', 'sandbox', '-o', 'out'], options)).toEqual([
      'outcome=',
    ]);
    expect(await complete(['resources', 'list', '--model', 'e'], options)).toEqual(['echo']);
  });

  it('offers the labels of a prompt once the @ is typed', async () => {
    const options: TestOptions = { home: createTemporaryDirectory(), local: localService };
    const { stdout } = await runInProcess(['versions', 'list', 'hello'], options);

    const version = stdout().slice(0, 8);
    for (const label of ['production', 'staging']) {
      const labelled = await runInProcess(['versions', 'label', 'hello', version, label], options);
      expect(labelled.stderr()).toBe('');
      expect(labelled.exitCode).toBe(0);
    }

    expect(await complete(['run', 'hello@'], options)).toEqual([
      'hello@production',
      'hello@staging',
    ]);
    expect(await complete(['batch', 'hello@s'], options)).toEqual(['hello@staging']);
    expect(await complete(['run', 'hel'], options)).toEqual(['hello']);

    await runInProcess(['versions', 'label', 'hello', 'staging', '--remove'], options);
    expect(await complete(['run', 'hello@'], options)).toEqual(['hello@production']);
    expect(await complete(['run', 'hello@production', '-i', ''], options)).toEqual(['name=']);
  });

  it('offers cached prompts by slug once it is known', async () => {
    const promptCache = createPromptCache({ textInputs: { topic: {} } });
    const directory = createHome({
      'config/prompts.json': {
        ...promptCache,
        slugs: [{ service: 'local', promptId: PROMPT_ID, slug: 'haiku' }],
      },
    });

    expect(await complete(['run', 'h'], { home: directory })).toEqual(['haiku']);
    expect(await complete(['run', 'haiku', '-i', ''], { home: directory })).toEqual(['topic=']);
    expect(await complete(['run', 'haiku@0b0c', '-i', ''], { home: directory })).toEqual([
      'topic=',
    ]);
  });

  it('offers what earlier runs read from a service, without another request', async () => {
    const service = await TestService.forTest();
    const env = { PROMPTRUN_BASE_URL: service.service.url, PROMPTRUN_API_KEY: service.key };
    const options = { home: createTemporaryDirectory(), env };
    await runInProcess(['run', 'hello', '-i', 'name=Ada'], options);
    await runInProcess(['run', 'postcard', '-i', 'place=Rome'], options);
    await runInProcess(['run', 'sandbox', '-o', 'outcome=failed'], options);
    await service.close();

    expect(await complete(['run', 'hello', '-o', ''], options)).toEqual([]);
    expect(await complete(['run', 'sandbox', '-o', ''], options)).toEqual([
      'delaySeconds=',
      'outcome=',
    ]);
    expect(await complete(['run', 'hello', '-i', ''], options)).toEqual(['name=']);
    expect(await complete(['run', 'post'], options)).toEqual(['postcard']);
    expect(await complete(['run', 'postcard', '-i', 'mood=s'], options)).toEqual([
      'mood=sunny',
      'mood=snowy',
    ]);
  });

  it('offers prompts of another service by slug, or else once by their newest version', async () => {
    const config = { textInputs: [] };
    const cacheOfSlugs = (slugs: readonly object[]): object => ({
      versions: ['a', 'b'].map(letter => ({
        service: BASE_URL,
        version: {
          promptVersionId: VERSION_ID.replace('0', letter),
          promptId: PROMPT_ID,
          title: 'Anonymous',
          publishedAt: '2026-01-01T00:00:00Z',
          config,
        },
      })),
      slugs,
    });

    const env = { PROMPTRUN_BASE_URL: BASE_URL };
    const slug = { service: BASE_URL, promptId: OTHER_VERSION_ID, slug: 'just-run' };
    const directory = createHome({ 'config/prompts.json': cacheOfSlugs([slug]) });

    expect(
      (await complete(['run', ''], { home: directory, env })).filter(word => word !== 'config/'),
    ).toEqual([VERSION_ID.replace('0', 'a'), 'just-run']);
  });

  it('offers named image inputs, and files as their values', async () => {
    const text =
      '---\nmodel: echo\ninput: {schema: {photo: string, note: string}}\n---\n{{note}} {{media url=photo}}\n';
    const directory = createHome({ 'pic.prompt': text, 'cat.png': 'x' });
    const options = { home: directory, local: localService };

    expect(await complete(['run', 'pic.prompt', '-i', ''], options)).toEqual(['note=', 'photo=']);
    expect(await complete(['run', 'pic.prompt', '-i', 'photo=c'], options)).toEqual([
      'photo=cat.png',
    ]);
  });

  it('offers prompt files with their inputs and options, but not the versions that their runs made', async () => {
    const directory = createHome({
      'note.prompt':
        '---\nmodel: echo\ninput:\n  schema:\n    topic: string, what it is about\n    tone(enum): [dry, warm]\n---\n{{topic}} {{tone}}\n',
    });
    const options = { home: directory, local: localService };
    for (const topic of ['tea', 'rain']) {
      writeFileSync(path.join(directory, 'edited.prompt'), `On ${topic}.\n`);
      await runInProcess(['run', 'edited.prompt'], options);
      await runInProcess(['runs', 'show', '--last'], options);
    }

    const completions = await complete(['run', ''], options);
    expect(completions.filter(word => /^[0-9a-f]{8}-/.test(word))).toEqual([]);
    expect(completions).toEqual(expect.arrayContaining(['note.prompt', 'edited.prompt', 'hello']));
    expect(await complete(['run', 'note.prompt', '-i', ''], options)).toEqual(['topic=', 'tone=']);
    expect(await complete(['run', 'note.prompt', '-i', 'tone='], options)).toEqual([
      'tone=dry',
      'tone=warm',
    ]);
    expect(await complete(['run', 'note.prompt', '-i', 'topic=x', '-i', 't'], options)).toEqual([
      'tone=',
    ]);
    expect(await complete(['run', 'note.prompt', '-o', ''], options)).toEqual([]);
  });

  it('offers only versions of the prompt on the line where a version id is expected', async () => {
    const { versions } = createPromptCache({}) as { versions: { version: object }[] };
    const [cachedVersion] = versions;
    const promptVersionId = OTHER_VERSION_ID;
    const versionOfOtherPrompt = {
      ...cachedVersion,
      version: { ...cachedVersion?.version, promptVersionId, promptId: RUN_ID },
    };
    const directory = createHome({
      'config/prompts.json': { versions: [cachedVersion, versionOfOtherPrompt] },
    });

    expect(await complete(['versions', 'diff', VERSION_ID, ''], { home: directory })).toEqual([
      VERSION_ID,
    ]);
    expect(
      await complete(['prompts', 'get', RUN_ID, '--version-id', ''], { home: directory }),
    ).toEqual([OTHER_VERSION_ID]);
  });
});

describe('robustness', () => {
  it('starts no service and writes nothing', async () => {
    const { home: directory } = await runInProcess([
      '__complete',
      'fish',
      '--',
      'run',
      'x',
      '-i',
      '',
    ]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('ignores damaged files', async () => {
    const directory = createHome({
      'config/config.json': '{',
      'config/prompts.json': '[',
      'config/resources.json': 'null',
    });
    expect(await complete(['run', ''], { home: directory })).toEqual(['config/']);
    expect(await complete(['--profile', ''], { home: directory })).toEqual([]);
  });

  it('leaves out inputs that cannot be typed', async () => {
    const textInputs = {
      'a\nb': {},
      'c\td': {},
      'e\u001b[2J': {},
      'f\u202eg': {},
      'h=i': {},
      fine: {},
    };
    const directory = createHome({ 'config/prompts.json': createPromptCache({ textInputs }) });
    expect(await complete(['run', VERSION_ID, '-i', ''], { home: directory })).toEqual(['fine=']);
  });

  it('completes an input called __proto__ like any other', async () => {
    const config = JSON.parse(
      '{"textInputs":{"__proto__":{"type":"string","enum":["x"]}}}',
    ) as unknown;
    const directory = createHome({ 'config/prompts.json': createPromptCache(config) });
    expect(await complete(['run', VERSION_ID, '-i', '__proto__='], { home: directory })).toEqual([
      '__proto__=x',
    ]);
  });

  it('leaves the order of the prompt cache unchanged', async () => {
    const directory = createHome({
      'config/prompts.json': createPromptCache(
        { textInputs: { a: {} } },
        { textInputs: { b: {} } },
      ),
    });
    expect(await complete(['run', OTHER_VERSION_ID, '-i', ''], { home: directory })).toEqual([
      'b=',
    ]);
    expect(
      (await complete(['prompts', 'get', '', '--version-id', ''], { home: directory }))[0],
    ).toBe(VERSION_ID);
    expect(existsSync(path.join(directory, 'state'))).toBe(false);
  });
});
