import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { startJsonServer } from '../../../support/json-server.ts';
import { Project } from '../../../support/project.ts';
import { runConfiguration } from './tested-configuration.ts';

/** The answer of a judge that passes everything. */
const YES = { choices: [{ message: { content: 'Yes.' } }] };

describe('judges of a configuration of promptfoo', () => {
  it('are refused if code reads their answer', async () => {
    const text = `prompts: [x]
providers: [echo]
defaultTest:
  options:
    provider: { id: http, config: { url: 'http://127.0.0.1:9', transformResponse: 'json.a + 1' } }
tests: [{ assert: [{ type: llm-rubric, value: good }] }]
`;
    const { exitCode, stderr } = await runConfiguration(
      { 'promptfooconfig.yaml': text },
      '--allow-commands',
    );
    expect(stderr).toContain('code reads its answer');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('judge with the config of the place that names them', async () => {
    const { address, requests } = await startJsonServer(YES);
    const judge = (settings: string): string =>
      `{ id: openai:m, config: { apiBaseUrl: '${address}', ${settings} } }`;
    const text = `prompts: ['Say {{a}}']
providers: [echo]
defaultTest: { options: { provider: ${judge('temperature: 0.3')} } }
tests:
  - vars: { a: x }
    assert:
      - { type: llm-rubric, value: is short }
      - { type: llm-rubric, value: is short, provider: ${judge('max_tokens: 7')} }
`;
    const project = new Project({ 'promptfooconfig.yaml': text });

    expect((await project.run(['test', '--allow-commands'])).exitCode).toBe(0);

    const sentSettings = requests.map(({ body }) => {
      const { temperature, max_tokens } = body as Record<string, unknown>;
      return { temperature, max_tokens };
    });
    // A judge without own settings is asked at temperature 0, for at most 1024 tokens.
    expect(sentSettings).toEqual([
      { temperature: 0.3, max_tokens: 1024 },
      { temperature: 0, max_tokens: 7 },
    ]);
  });

  it.each(['openai:m', 'grader'])(
    'judge with the config of the provider that they refer to: %s',
    async judge => {
      const { address, requests } = await startJsonServer(YES);
      const text = `prompts: ['Say {{a}}']
providers:
  - { id: openai:m, label: grader, config: { apiBaseUrl: '${address}', temperature: 0.7 } }
  - { id: openai:m, config: { apiBaseUrl: '${address}', temperature: 0.3 } }
defaultTest: { options: { provider: ${judge} } }
tests: [{ vars: { a: x }, assert: [{ type: llm-rubric, value: is short }], providers: [grader] }]
`;
      const project = new Project({ 'promptfooconfig.yaml': text });

      expect((await project.run(['test', '--allow-commands'])).exitCode).toBe(0);

      const temperatures = requests.map(
        ({ body }) => (body as { readonly temperature: number }).temperature,
      );
      const answeringTemperature = 0.7;
      const judgeTemperature = judge === 'grader' ? 0.7 : 0.3;
      expect(temperatures).toEqual([answeringTemperature, judgeTemperature]);
    },
  );

  it('are asked again by --resume if their address has changed', async () => {
    const { address, requests } = await startJsonServer(YES);
    const config = (path: string): string => `prompts: ['Say {{a}}']
providers: [echo]
defaultTest: { options: { provider: { id: openai:m, config: { apiBaseUrl: '${address}${path}' } } } }
tests: [{ vars: { a: x }, assert: [{ type: llm-rubric, value: is short }] }]
`;

    const project = new Project({ 'promptfooconfig.yaml': config('') });
    const resume = ['test', '--allow-commands', '--resume'];

    expect((await project.run(resume)).exitCode).toBe(0);
    expect((await project.run(resume)).exitCode).toBe(0);

    project.write('promptfooconfig.yaml', config('/other'));
    expect((await project.run(resume)).exitCode).toBe(0);
    const [first, second, ...others] = requests.map(({ url }) => url ?? '');
    expect(first).not.toMatch(/^\/other/u);
    expect(second).toMatch(/^\/other/u);
    expect(others).toEqual([]);
  });
});
