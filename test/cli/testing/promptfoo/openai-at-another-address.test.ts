import { describe, expect, it } from 'vitest';
import { localService } from '../../../../src/main.ts';
import { runInProcess } from '../../../support/context.ts';
import { startJsonServer } from '../../../support/json-server.ts';
import { Project } from '../../../support/project.ts';
import { runConfiguration } from './tested-configuration.ts';

describe('a provider with the interface of OpenAI at another address', () => {
  it('gets the settings that promptfoo sends', async () => {
    const answer = { choices: [{ message: { content: 'an answer' } }] };
    const { address, requests } = await startJsonServer(answer);
    const text = `prompts: [{ raw: 'Say {{a}}', config: { top_p: 0.5 } }]
providers:
  - id: openai:chat:ours
    config: { apiBaseUrl: '${address}/v1', temperature: 0.1, strength: 3 }
defaultTest: { options: { max_tokens: 7 } }
env: { OUR_API_KEY: not-used }
tests: [{ vars: { a: x }, assert: [{ type: equals, value: 'an answer', threshold: 2 }] }]
`;
    const project = new Project({ 'promptfooconfig.yaml': text });

    expect((await project.run(['test', '--allow-commands'])).exitCode).toBe(0);
    expect(requests.map(({ url }) => url)).toEqual(['/v1/chat/completions']);

    const messages = [{ role: 'user', content: 'Say x' }];
    const body = { model: 'ours', messages, temperature: 0.1, top_p: 0.5, max_tokens: 7 };

    expect(requests.map(request => request.body)).toEqual([body]);
  });

  it('gives checks a parsed answer if it has a JSON Schema, else the text', async () => {
    const answer = { choices: [{ message: { content: '{"q": "one"}' } }] };
    const schema = { type: 'object', properties: { q: { type: 'string' } } };
    const formats = [
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
    ];
    const checks = ['"q": "one"', '"q":"one"'].map(value => ({ type: 'contains', value }));
    const values = ['output.q === "one"', 'JSON.parse(output).q === "one"'];
    const asserts = [...checks, ...values.map(value => ({ type: 'javascript', value }))];

    const verdicts: unknown[] = [];
    const { address } = await startJsonServer(answer);
    for (const format of formats) {
      const config = {
        prompts: ['x'],
        providers: [
          {
            id: 'openai:chat:ours',
            config: { apiBaseUrl: `${address}/v1`, response_format: format },
            transform: 'output',
          },
        ],
        tests: asserts.map(assertion => ({ assert: [assertion] })),
      };
      const files = { 'promptfooconfig.json': JSON.stringify(config) };
      const { stdout } = await runConfiguration(files, '--allow-commands', '--json');
      const { cases } = JSON.parse(stdout) as {
        readonly cases: readonly { readonly status: string }[];
      };
      verdicts.push(cases.map(({ status }) => status));
    }

    expect(verdicts).toEqual([
      ['passed', 'failed', 'failed', 'passed'],
      ['failed', 'passed', 'passed', 'failed'],
    ]);
  });

  it('has its answers checked even if the token limit cut them, with a note', async () => {
    const cut = { message: { content: '{"x":[],"m' }, finish_reason: 'length' };
    const asserts = [
      { type: 'is-json' },
      { type: 'not-contains', value: 'zebra' },
      { type: 'is-refusal' },
      { type: 'equals', value: '' },
    ];

    const { address } = await startJsonServer({ choices: [cut] });
    const config = { apiBaseUrl: `${address}/v1` };
    const providers = [{ id: 'openai:chat:ours', config }];
    const tests = asserts.map(assertion => ({ assert: [assertion] }));
    const files = { 'promptfooconfig.json': JSON.stringify({ prompts: ['x'], providers, tests }) };
    const options = { home: new Project(files).home, local: localService };
    const { stdout, stderr } = await runInProcess(['test', '--allow-commands'], options);

    expect(stdout().match(/^(?:passed|FAILED) /gmu)).toEqual([
      'FAILED ',
      'passed ',
      'FAILED ',
      'FAILED ',
    ]);
    expect(stderr()).toContain(
      'note: the token limit cut 4 answers short; they were checked as they came',
    );
  });

  it('is a different provider for each path, in all configurations of a call', async () => {
    const answer = { choices: [{ message: { content: 'an answer' } }] };
    const { address, requests } = await startJsonServer(answer);
    const config = (...places: string[]): string => {
      const providers = places.map(
        place => `{ id: openai:m, config: { apiBaseUrl: '${address}/${place}' } }`,
      );
      return `prompts: ['Say {{a}}']\nproviders: [${providers.join(', ')}]\ntests: [{ vars: { a: x } }]\n`;
    };

    const files = ['a/promptfooconfig.yaml', 'b/promptfooconfig.yaml'];
    const project = new Project({
      'a/promptfooconfig.yaml': config('one', 'two'),
      'b/promptfooconfig.yaml': config('three', 'two'),
    });

    expect((await project.run(['test', ...files, '--allow-commands'])).exitCode).toBe(0);

    const places = ['/one', '/three', '/two', '/two'];
    expect(requests.map(({ url }) => url).toSorted()).toEqual(
      places.map(place => `${place}/chat/completions`),
    );
  });

  it('never gets the headers of a provider in models.yaml with the same name', async () => {
    const answer = { choices: [{ message: { content: 'an answer' } }] };
    const { address, requests } = await startJsonServer(answer);
    const name = new URL(address).host.replaceAll(/[.:]/gu, '-');
    const project = new Project({
      'promptfooconfig.yaml': `prompts: ['Say {{a}}']
providers: [{ id: openai:m, config: { apiBaseUrl: '${address}/theirs' } }]
tests: [{ vars: { a: x }, assert: [{ type: llm-rubric, value: is short }] }]
`,
      'data/models.yaml': `providers:
  ${name}: { baseUrl: '${address}/own', engine: openai, headers: { x-team: ours } }
`,
    });
    await project.run(['test', '--allow-commands', '--judge', `${name}/m`]);

    expect(requests.map(({ url, headers }) => [url, headers['x-team']])).toEqual([
      ['/theirs/chat/completions', undefined],
      ['/own/chat/completions', 'ours'],
    ]);
  });
});
