import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { runInProcess } from '../../../support/context.ts';
import { startJsonServer } from '../../../support/json-server.ts';
import { Project } from '../../../support/project.ts';
import { runConfiguration } from './tested-configuration.ts';

describe('an HTTP provider of a configuration', () => {
  const config = (address: string, rest: string) => `prompts: ['Say {{a}}']
providers:
  - id: http
    config:
      url: ${address}/ask?of={{a}}
      method: POST
      headers: { X-Team: docs }
      body: { question: '{{prompt}}', about: '{{a}}' }
      ${rest}
tests: [{ vars: { a: 'one "two"' }, assert: [{ type: equals, value: 'an answer' }] }]
`;

  it.each([
    'transformResponse: json.text',
    'transformResponse: "(json, text) => JSON.parse(text).text"',
    'responseParser: json.text',
    // promptfoo reads no such key.
    'responseTimeout: 30000\n      transformResponse: json.text',
  ])('is asked as promptfoo asks it, with %s', async rest => {
    const { address, requests } = await startJsonServer({ text: 'an answer' });
    const { exitCode, stdout } = await runConfiguration(
      { 'promptfooconfig.yaml': config(address, rest) },
      '--allow-commands',
    );
    expect(stdout).toContain('1 passed');
    expect(exitCode).toBe(0);
    expect(requests).toEqual([
      {
        method: 'POST',
        url: '/ask?of=one%20%22two%22',
        headers: expect.objectContaining({ 'x-team': 'docs', 'content-type': 'application/json' }),
        body: { question: 'Say one "two"', about: 'one "two"' },
      },
    ]);
  });

  it('gets all of its query parameters, encoded', async () => {
    const { address, requests } = await startJsonServer({ text: 'an answer' });
    const query =
      "queryParams: { empty: '', set: 'x&y', mixed: 'a&b {{a}}', literal: '${5}', last: '{{a}}' }";
    const { exitCode } = await runConfiguration(
      {
        'promptfooconfig.yaml': config(address, `${query}\n      transformResponse: json.text`),
      },
      '--allow-commands',
    );
    expect(exitCode).toBe(0);

    // The parameters that promptfoo sends.
    const [request] = requests;
    expect([...new URL(request?.url ?? '', address).searchParams]).toEqual([
      ['of', 'one "two"'],
      ['empty', ''],
      ['set', 'x&y'],
      ['mixed', 'a&b one "two"'],
      ['literal', '${5}'],
      ['last', 'one "two"'],
    ]);
  });

  it('gets a body that Nunjucks renders from the variables and the prompt', async () => {
    const { address, requests } = await startJsonServer({});
    const text = `prompts: ['{{question}}', '{{a}} {{question}}']
providers:
  - id: http
    label: bot
    prompts: ['{{question}}']
    config:
      url: ${address}/ask
      method: POST
      headers: { Content-Type: application/json }
      body: |
        { "turns": [{% for turn in turns %}{{ turn.text | dump }}, {% endfor %}"{{ question }}"]{% if a %},
          "a": {{ a | dump }}{% endif %}, "prompt": "{{ prompt }}" }
tests:
  - vars: { question: 'Is "it"?', turns: [{ text: "One\\n" }, { text: Two }] }
  - vars: { question: Why, a: [b, 'c {{n}}'], n: 7 }
`;

    const argv = ['--allow-commands', '--concurrency', '1'];
    expect(await runConfiguration({ 'promptfooconfig.yaml': text }, ...argv)).toMatchObject({
      exitCode: 0,
    });

    // The requests that promptfoo sends.
    expect(requests.map(({ body }) => body)).toEqual([
      { turns: ['One\n', 'Two', 'Is "it"?'], prompt: 'Is "it"?' },
      { turns: ['Why'], a: 'b', prompt: 'Why' },
      { turns: ['Why'], a: 'c 7', prompt: 'Why' },
    ]);
  });

  it('gives the output that its transform takes from the answer', async () => {
    // The outputs of promptfoo, for each transform.
    const outputs: Readonly<Record<string, object | string | number>> = {
      'json.text': 'an answer',
      'json.text.length': 9,
      'json.nothing': {},
      null: { output: null },
      '""': { output: '' },
      '0': { output: 0 },
      '({ output: json.text, more: 1 })': 'an answer',
      '({ output: "", more: 1 })': { output: '', more: 1 },
      '({ text: 1 })': { text: 1 },
      '[]': [],
    };

    const { address } = await startJsonServer({ text: 'an answer', output: 'none of it' });
    const provider = (transformResponse?: string) => ({
      id: 'http',
      label: transformResponse ?? 'none',
      config: {
        url: address,
        method: 'POST',
        body: { a: 1 },
        ...(transformResponse && { transformResponse }),
      },
    });

    const test = (label: string, output: unknown) => ({
      vars: { a: 'b' },
      providers: [label],
      assert: [
        {
          type: 'javascript',
          value: `JSON.stringify(output) === ${JSON.stringify(JSON.stringify(output))}`,
        },
      ],
    });

    const config = {
      prompts: ['x'],
      providers: [provider(), ...Object.keys(outputs).map(code => provider(code))],
      tests: [
        test('none', { text: 'an answer', output: 'none of it' }),
        ...Object.entries(outputs).map(([code, output]) => test(code, output)),
      ],
    };
    const files = { 'promptfooconfig.json': JSON.stringify(config) };

    expect((await runConfiguration(files, '--allow-commands')).stdout).toContain(
      '11 passed, 0 failed',
    );
  });

  it('gets the defaults of missing variables, and pictures as data URLs', async () => {
    const { address, requests } = await startJsonServer({ text: 'an answer' });
    const text = `prompts: ['{{prompt}}']
providers:
  - id: http
    config:
      url: ${address}/ask
      useHttps: false
      headers: { X-Team: "{{ who | default('nobody') }}" }
      body:
        message: "{{ prompt | default('none') }}"
        system: '{{system | default("You rhyme.")}}'
        image: "{{ image | default('') }}"
      method: POST
evaluateOptions: { maxConcurrency: 1 }
tests:
  - vars: { prompt: One, system: Mine, image: file://a.jpg }
  - vars: { prompt: Two, who: me }
  - vars: { prompt: Three, system: '' }
  - vars: { prompt: Four, system: null, who: 7 }
`;

    // The bytes say what it is, not the name.
    const picture = Buffer.from('RIFF\u0010\0\0\0WEBPVP8 ').toString();
    const files = { 'promptfooconfig.yaml': text, 'a.jpg': picture };

    expect(await runConfiguration(files, '--allow-commands', '--concurrency', '1')).toMatchObject({
      exitCode: 0,
    });

    // The requests that promptfoo sends.
    const image = 'data:image/webp;base64,UklGRhAAAABXRUJQVlA4IA==';
    expect(requests.map(({ headers, body }) => [headers['x-team'], body])).toEqual([
      ['nobody', { message: 'One', system: 'Mine', image }],
      ['me', { message: 'Two', system: 'You rhyme.', image: '' }],
      ['nobody', { message: 'Three', system: '', image: '' }],
      ['7', { message: 'Four', system: '', image: '' }],
    ]);
  });

  it('is not asked without --allow-commands, and its entry for a models file is shown', async () => {
    const { address, requests } = await startJsonServer({});
    const project = new Project({
      'promptfooconfig.yaml': config(address, 'transformResponse: json.text'),
    });
    const { exitCode, stderr } = await runInProcess(['test'], {
      home: project.home,
      local: localService,
    });

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).toContain(`    address: ${address}/ask?of=\${input.a}`);
    expect(stderr()).toContain('add --allow-commands');
    expect(requests).toEqual([]);
  });

  it('is asked at an address from the environment, which is never shown', async () => {
    const { address, requests } = await startJsonServer({ text: 'an answer' });
    const text = config('"{{env.HOOK}}"', 'transformResponse: json.text').replace(
      'HOOK}}"/',
      'HOOK}}/',
    );
    const project = new Project({ 'promptfooconfig.yaml': text.replace('?of={{a}}', '"') });
    const env = { HOOK: `${address}/a-secret` };
    const shown = await runInProcess(['test'], { home: project.home, local: localService, env });

    expect(shown.stderr()).toContain('value-of-HOOK/ask');
    expect(shown.exitCode).toBe(EXIT.usage);
    expect(shown.stderr()).not.toContain('a-secret');
    expect((await project.run(['test', '--allow-commands'], { env })).exitCode).toBe(0);
    expect(requests.map(({ url }) => url)).toEqual(['/a-secret/ask']);
  });
});
