import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ConvertedPrompt } from '../../../../src/prompts/foreign/converted-prompt.ts';
import { convert, noteLines } from './convert-configuration.ts';

describe('programs and addresses of promptfoo', () => {
  const parseModels = ({ modelsText = 'models: []' }: ConvertedPrompt): unknown =>
    (parse(modelsText) as { models: unknown }).models;

  it('become entries of a models file, called as promptfoo calls them', async () => {
    const converted = await convert(
      [
        'prompts: ["Say {{a}}"]',
        'providers:',
        '  - exec:python chain.py --mode "a b"',
        '  - id: https',
        '    label: Our bot',
        '    config:',
        '      url: https://bot.example/ask?u={{a}}',
        '      method: POST',
        '      headers: {Authorization: "Bearer {{env.BOT_KEY}}", X-Cost: "${5}"}',
        '      body: {question: "{{prompt}}", top: 3, session: "s-{{context.uuid}}"}',
        '      transformResponse: json.choices[0].text',
      ].join('\n'),
      { files: { 'chain.py': '' } },
    );

    expect(parseModels(converted)).toEqual([
      {
        model: 'python-chain-py-mode-a-b-program',
        modality: 'text',
        program: [
          'node',
          '-e',
          expect.stringContaining('execFile'),
          '${here}',
          '["python","chain.py","--mode","a b"]',
          '{"config":{}}',
          '[]',
          '${messages}',
        ],
      },
      {
        model: 'our-bot-address',
        modality: 'text',
        address: 'https://bot.example/ask?u=${input.a}',
        headers: { Authorization: 'Bearer ${env.BOT_KEY}', 'X-Cost': '$${5}' },
        body: { question: '${prompt}', top: 3, session: 's-' },
        output: 'choices[0].text',
      },
    ]);

    expect(converted.promptText).toMatch(/^model: python-chain-py-mode-a-b-program$/m);
    expect(noteLines(converted)).toEqual([]);
  });

  it('have no paths of this machine in a models file that is written', async () => {
    const text = `prompts: ["{{a}}"]\nproviders: [file://bot.ts]\ntests: [{vars: {a: x}}]`;
    const files = { 'bot.ts': '' };
    const converted = await convert(text, { files });

    expect(converted.modelsText).not.toContain('node_modules');
    expect(noteLines(converted).join('\n')).toMatch(
      /`file:\/\/bot\.ts` is TypeScript: its entry needs tsx or jiti/,
    );

    const convertedForTest = await convert(text, { files, isForTest: true, allowCommands: true });
    expect([convertedForTest.modelsText, noteLines(convertedForTest)]).toEqual([
      expect.stringContaining('node_modules'),
      [],
    ]);
  });

  it('are different models if their configs differ', async () => {
    const providers =
      '[{id: file://bot.mjs, config: {k: 1}}, {id: ./bot.mjs, config: {k: 2}}, bot.mjs]';
    const text = `prompts: ["{{a}}"]\nproviders: ${providers}\ntests: [{vars: {a: x}}]`;
    const converted = await convert(text, { files: { 'bot.mjs': '' } });
    const names = ['bot-mjs-program', 'bot-mjs-program-2', 'bot-mjs-program-3'];
    expect(parseModels(converted)).toMatchObject(names.map(model => ({ model })));
    expect(converted.testContent).toMatchObject({ models: names });
  });

  it.each([
    ['config: {url: "https://{{a}}/", body: {}}', /its host is not literal/],
    ['config: {url: "http://bot.example/", body: {}}', /it uses http and is not this machine/],
    ['config: {url: "https://b.example/", body: {q: "{{a | upper}}"}}', /more than variables/],
    ['config: {url: "https://b.example/", body: {q: "{{a.b}}"}}', /more than variables/],
    ['config: {url: "https://b.example/", body: {q: "for ${{a}}"}}', /more than variables/],
    ['config: {url: "https://b.example/", body: {}, transformResponse: file://t.js}', /is a file/],
    ['config: {url: "https://b.example/", body: {}, auth: {}}', /it has `auth`/],
  ])(
    'are left out with the reason if no entry can express them: %s',
    async (config, expectedNote) => {
      const converted = await convert(
        `prompts: ["{{a}}"]\nproviders: [{id: https, ${config}}]\ntests: [{vars: {a: x}}]`,
      );
      expect(parseModels(converted)).toEqual([]);
      expect(noteLines(converted).join('\n')).toMatch(expectedNote);
    },
  );

  it('report headers that no entry can express at the line of the headers', async () => {
    const converted = await convert(
      [
        'prompts: ["{{a}}"]',
        'providers:',
        '  - id: https',
        '    config:',
        '      url: https://b.example/',
        '      headers: {X-A: "{{a | upper}}"}',
        '      body: {}',
        'tests: [{vars: {a: x}}]',
      ].join('\n'),
    );
    expect(noteLines(converted).join('\n')).toMatch(/yaml:6: .*its headers .* more than variables/);
  });

  it('send a raw request to an https address if useHttps is set', async () => {
    const request = 'POST /ask HTTP/1.1\\nHost: b.example\\n\\n{}';
    const converted = await convert(
      `prompts: ["{{a}}"]
providers: [{id: http, config: {request: "${request}", useHttps: true}}]
tests: [{vars: {a: x}}]`,
    );
    expect(parseModels(converted)).toMatchObject([{ address: 'https://b.example/ask' }]);
    expect(noteLines(converted)).toEqual([]);
  });
});
