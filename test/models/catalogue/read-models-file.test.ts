import { describe, expect, it } from 'vitest';
import { InvalidModelsFileError } from '../../../src/models/catalogue/models-file.ts';
import { parseModelsFile } from '../../../src/models/catalogue/read-models-file.ts';
import { INTERFACE_NAMES } from '../../../src/models/model-entry.ts';
import { listKnownProviders } from '../../../src/models/providers/providers.ts';

const openai = {
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  interfaceName: 'openai',
  keyVariables: ['OPENAI_API_KEY'],
  needsKey: true,
} as const;

const lines = (...text: string[]): string => text.join('\n');

/** The line of a provider `here`. */
const HERE = 'providers: {here: {baseUrl: "http://localhost/v1"}}';

describe('models.yaml', () => {
  it('describes models and their addresses', () => {
    const text = lines(
      'models:',
      '  - model: small',
      '    modality: text',
      '    provider: here',
      '    id: llama3.2:1b',
      '    runOptions: {reasoningEffort: [low, high], seconds: [5, 10]}',
      '    credits: 0',
      '  - {model: painter, modality: image, provider: openai}',
      'providers:',
      '  here: {baseUrl: "http://localhost:11434/v1"}',
      '  there: {baseUrl: "https://models.example/v1", apiKeyEnv: THERE_KEY}',
    );
    expect(parseModelsFile(text, 'models.yaml', [openai]).models).toEqual([
      {
        model: 'small',
        modality: 'text',
        engine: 'provider',
        provider: {
          name: 'here',
          baseUrl: 'http://localhost:11434/v1',
          interfaceName: 'openai',
          keyVariables: [],
          needsKey: false,
          takesBatches: false,
        },
        id: 'llama3.2:1b',
        runOptions: [
          { key: 'reasoningEffort', options: ['low', 'high'] },
          { key: 'seconds', options: ['5', '10'] },
        ],
        credits: 0,
      },
      {
        model: 'painter',
        modality: 'image',
        engine: 'provider',
        provider: openai,
        runOptions: [],
        credits: 10,
      },
    ]);
  });

  it.each(['', '# nothing yet\n', 'models:\n', 'models: []\nproviders: {}\n', '\uFEFFmodels: []'])(
    'may be empty: %j',
    text => {
      expect(parseModelsFile(text, 'models.yaml', []).models).toEqual([]);
    },
  );

  it('is read with CRLF as LF', () => {
    const text = lines(
      'models:',
      '  - model: small',
      '    modality: text',
      '    program: [llm, "a',
      '      b"]',
      '',
    );
    const read = (source: string): object => parseModelsFile(source, 'models.yaml', []);
    expect(read(text.replaceAll('\n', '\r\n'))).toEqual(read(text));
  });

  it('takes a model without a modality for an image model if its name says so', () => {
    const text = lines(
      'models:',
      '  - {model: painter, provider: openai, id: gpt-image-1}',
      '  - {model: flux-writer, provider: openai, id: gpt-9}',
      '  - {model: flux, provider: openai}',
      '  - {model: flux-2, modality: text, provider: openai}',
    );
    const { models } = parseModelsFile(text, 'models.yaml', [openai]);
    expect(models.map(({ modality, credits }) => [modality, credits])).toEqual([
      ['image', 10],
      ['text', 2],
      ['image', 10],
      ['text', 2],
    ]);
  });

  it('may send headers, name how JSON is asked for, and give models other names', () => {
    const text = lines(
      'providers: {here: {baseUrl: "http://localhost/v1", headers: {X-Title: a b, X-Count: 3}}}',
      'models: [{model: x, modality: text, provider: here, responseFormat: none}]',
      'modelAliases: {vertexai/y: x}',
    );
    const { models, aliases } = parseModelsFile(text, 'models.yaml', []);
    expect(models[0]).toMatchObject({
      responseFormat: 'none',
      provider: { headers: { 'X-Title': 'a b', 'X-Count': '3' } },
    });
    expect([...aliases]).toEqual([['vertexai/y', 'x']]);
  });

  describe('an entry with the name of a known provider', () => {
    const parseEntry = (entry: string, env: Record<string, string> = {}) => {
      const { providers, faults } = parseModelsFile(
        `providers: {${entry}}`,
        'm.yaml',
        listKnownProviders(env),
      );
      expect(faults).toEqual([]);
      return providers[0];
    };

    it.each<[string, object]>([
      [
        'openai: {baseUrl: "https://proxy.example/v1"}',
        {
          interfaceName: 'openai',
          keyVariables: ['OPENAI_API_KEY'],
          needsKey: true,
          takesBatches: true,
        },
      ],
      [
        'openai: {batch: false}',
        {
          interfaceName: 'openai-responses',
          baseUrl: 'https://api.openai.com/v1',
          takesBatches: false,
        },
      ],
      [
        'openai: {baseUrl: "https://eu.api.openai.com/v1", engine: openai}',
        { interfaceName: 'openai' },
      ],
      [
        'openai: {apiKeyEnv: OTHER_KEY}',
        {
          keyVariables: ['OTHER_KEY'],
          interfaceName: 'openai-responses',
          baseUrl: 'https://api.openai.com/v1',
        },
      ],
      [
        'anthropic: {baseUrl: "https://proxy.example/v1/"}',
        { interfaceName: 'anthropic', baseUrl: 'https://proxy.example' },
      ],
      [
        'gemini: {baseUrl: "https://proxy.example/v1beta"}',
        { interfaceName: 'google', keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'] },
      ],
      [
        'azure: {apiKeyEnv: MINE}',
        { interfaceName: 'azure', missingVariables: ['AZURE_RESOURCE_NAME', 'AZURE_BASE_URL'] },
      ],
      [
        'groq: {baseUrl: "http://127.0.0.1:9"}',
        { needsKey: false, baseUrl: 'http://127.0.0.1:9/openai/v1' },
      ],
    ])('keeps what it does not mention: %s', (entry, provider) => {
      expect(parseEntry(entry)).toMatchObject(provider);
    });

    it('keeps the address of the environment', () => {
      const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };
      expect(parseEntry('openai: {batch: false}', env)).toMatchObject({
        baseUrl: 'http://127.0.0.1:9/v1',
      });
    });
  });

  it('lists options that are always left out, and marks reasoning models', () => {
    const text = lines(
      'models:',
      '  - {model: a, modality: text, provider: openai, leaveOut: [temperature, topP], reasoning: true}',
      '  - {model: b, modality: text, provider: openai, leaveOut: [warmth]}',
      '  - {model: c, modality: text, provider: openai, reasoning: maybe}',
    );
    const { models, faults } = parseModelsFile(text, 'm.yaml', [openai]);
    expect(models).toMatchObject([{ omittedOptions: ['temperature', 'topP'], isReasoning: true }]);
    expect(faults).toEqual([
      expect.stringMatching(/^m\.yaml:3: leaveOut takes temperature, .*, n, not `warmth`$/),
      expect.stringMatching(/^m\.yaml:4: reasoning must be true or false$/),
    ]);
  });

  it.each(INTERFACE_NAMES)('accepts %s as the engine of a provider', engine => {
    const text = `providers: {here: {baseUrl: "https://x.example/v1", engine: ${engine}}}`;
    expect(parseModelsFile(text, 'm.yaml', []).providers).toMatchObject([
      { interfaceName: engine },
    ]);
  });

  it('reports every fault, by line', () => {
    const text = lines(
      'providers: {here: {baseUrl: "nowhere"}}',
      'models:',
      '  - {model: x, modality: sound, provider: here}',
      'modelAliases: {a/b: gone}',
    );
    expect(parseModelsFile(text, 'm.yaml', []).faults).toEqual([
      expect.stringMatching(/^m\.yaml:1: /),
      expect.stringMatching(/^m\.yaml:3: /),
      expect.stringMatching(/^m\.yaml:4: /),
    ]);
  });

  it('leaves out only the entries with faults', () => {
    const text = lines(
      'providers:',
      '  here: {baseUrl: "http://localhost/v1"}',
      '  bad: {baseUrl: nowhere}',
      '  here: {baseUrl: "http://twice.example/v1"}',
      'models:',
      '  - {model: good, modality: text, provider: here}',
      '  - {model: lost, modality: sound, provider: here}',
      '  - {model: astray, modality: text, provider: bad}',
      'modelAliases: {a/b: good, c/d: lost, e/f: openai/gpt-9}',
      'more: 1',
    );

    const { models, providers, aliases, faults, brokenProviderNames, brokenNames } =
      parseModelsFile(text, 'm.yaml', [openai]);
    expect(models.map(({ model }) => model)).toEqual(['good']);
    expect(providers.map(({ baseUrl }) => baseUrl)).toEqual(['http://localhost/v1']);
    expect([...brokenProviderNames]).toEqual(['bad']);
    expect([...brokenNames]).toEqual(['lost', 'astray', 'c/d']);
    expect([...aliases.keys()]).toEqual(['a/b', 'e/f']);
    expect(faults.map(fault => /:(\d+):/.exec(fault)?.[1])).toEqual([
      '3',
      '4',
      '7',
      '8',
      '9',
      '10',
    ]);
  });

  it("refuses an alias for a name that only begins like a provider's", () => {
    const { faults } = parseModelsFile('modelAliases: {fast: openaix}', 'm.yaml', [openai]);
    expect(faults).toEqual([
      expect.stringMatching(/^m\.yaml:1: the model `openaix` does not exist; the models are /),
    ]);
  });

  it('is not drowned by aliases of aliases', () => {
    const ten = (alias: number): string => Array(10).fill(`*a${alias}`).join(', ');
    const bomb = Array.from(
      { length: 9 },
      (_, index) => `a${index + 1}: &a${index + 1} [${ten(index)}]`,
    );
    const text = lines(
      'a0: &a0 [x]',
      ...bomb,
      'models:',
      '  - {model: *a9, modality: text}',
      'modelAliases: {b: *a9}',
    );
    const { models, faults } = parseModelsFile(text, 'm.yaml', []);

    expect(models).toEqual([]);
    expect(faults.join('\n')).toContain('m.yaml:12');
  });

  it('says what a model costs and when it is shut down', () => {
    const text = lines(
      'models:',
      '  - {model: a, modality: text, provider: openai, price: {input: 0.15, output: 0.6, cachedInput: 0.075}}',
      '  - {model: b, modality: image, provider: openai, price: {image: 0.04}, shutdown_date: 2026-11-30}',
      '  - {model: c, modality: text, provider: openai, price: {input: -1, output: 0.6}}',
    );
    const { models, faults } = parseModelsFile(text, 'm.yaml', [openai]);
    expect(models).toMatchObject([
      { price: { input: 0.15, output: 0.6, cachedInput: 0.075 } },
      { price: { input: 0, output: 0, image: 0.04 }, shutdownDate: '2026-11-30' },
    ]);
    expect(faults).toEqual([expect.stringMatching(/:4: input must be a number of US dollars/)]);
  });

  it('names the key of a program if another one was written', () => {
    const text = lines('models:', '  - {model: x, modality: text, command: [cat]}');
    const { faults } = parseModelsFile(text, 'm.yaml', []);
    expect(faults).toEqual([
      expect.stringMatching(/:2: `command` is not a key .* program, address/),
    ]);
  });

  it.each([
    ['  - {provider: here, shutdown: 2027-01-01}', /did you mean shutdown_date\?/],
    [
      '  - {modle: x, provider: here}',
      /:3: `modle` is not a key of a model, .*; did you mean model\?/,
    ],
    [
      '  - {model: x, provider: heer}',
      /:3: provider `heer` is not described under providers; did you mean here\?/,
    ],
  ])('suggests what a misspelt %s may mean', (entry, fault) => {
    const text = lines(HERE, 'models:', entry);
    expect(parseModelsFile(text, 'm.yaml', []).faults).toEqual([expect.stringMatching(fault)]);
  });

  it.each([
    ['YAML', 'models: [', 1],
    ['a list', '- model: x', 1],
    ['an unknown key', lines('models: []', 'model: x'), 2],
    ['models that are a map', 'models: {a: b}', 1],
    [
      'a model without a name',
      lines(HERE, 'models:', '  - modality: text', '    provider: here'),
      3,
    ],
    ['a model without a provider', lines(HERE, 'models:', '  - model: x', '    modality: text'), 3],
    ['a model with an unknown key', lines(HERE, 'models:', '  - model: x', '    mode: text'), 4],
    [
      'a provider nobody describes',
      lines('models:', '  - model: x', '    modality: text', '    provider: there'),
      4,
    ],
    [
      'an unknown modality',
      lines(HERE, 'models:', '  - model: x', '    modality: sound', '    provider: here'),
      4,
    ],
    [
      'the modality of the built-in video model',
      lines(HERE, 'models:', '  - model: x', '    modality: video', '    provider: here'),
      4,
    ],
    [
      'a built-in name',
      lines(HERE, 'models:', '  - {model: echo, modality: text, provider: here}'),
      3,
    ],
    [
      'a name given twice',
      lines(
        HERE,
        'models:',
        '  - {model: x, modality: text, provider: here}',
        '  - {model: x, modality: text, provider: here}',
      ),
      4,
    ],
    [
      'an option without values',
      lines(HERE, 'models:', '  - {model: x, modality: text, provider: here, runOptions: {a: []}}'),
      3,
    ],
    [
      'an option that is not a list',
      lines(HERE, 'models:', '  - {model: x, modality: text, provider: here, runOptions: {a: b}}'),
      3,
    ],
    [
      'half a credit',
      lines(HERE, 'models:', '  - {model: x, modality: text, provider: here, credits: 0.5}'),
      3,
    ],
    [
      'a debt',
      lines(HERE, 'models:', '  - {model: x, modality: text, provider: here, credits: -1}'),
      3,
    ],
    ['a provider without a URL', lines('providers:', '  here: {apiKeyEnv: KEY}'), 2],
    [
      'a URL with a password',
      lines('providers:', '  here: {baseUrl: "https://a:sk-123@x.example"}'),
      2,
    ],
    ['a URL of another kind', lines('providers:', '  here: {baseUrl: "file:///etc"}'), 2],
    [
      'a key where its name belongs',
      lines('providers:', '  here: {baseUrl: "https://x.example", apiKeyEnv: sk-123-456}'),
      2,
    ],
  ])('with %s is refused with its line', (_, text, line) => {
    const [fault = ''] = findFaults(text);
    expect(fault).toMatch(new RegExp(`^/data/models\\.yaml:${line}: \\S`));
    expect(fault).not.toContain('sk-123');
  });
});

function findFaults(text: string): readonly string[] {
  try {
    return parseModelsFile(text, '/data/models.yaml', []).faults;
  } catch (error) {
    if (error instanceof InvalidModelsFileError) return error.faults;
    throw error;
  }
}
