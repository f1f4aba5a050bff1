import { expect, it, onTestFinished, vi } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { startJsonServer } from '../../../support/json-server.ts';
import { Project } from '../../../support/project.ts';

async function runCases(config: string) {
  const argv = ['test', '--allow-commands', '--json', '--concurrency', '1', '--rate', '0'];
  const { exitCode, stdout, stderr } = await new Project({ 'promptfooconfig.yaml': config }).run(
    argv,
  );
  const { cases } = JSON.parse(stdout()) as {
    readonly cases: readonly { readonly status: string }[];
  };
  return { exitCode, stderr: stderr(), statuses: cases.map(({ status }) => status) };
}

const TESTS = `tests:
  - { vars: { q: 'one "two"' }, assert: [{ type: equals, value: yes! }] }
`;

it('promptfoo asks an HTTP provider with a request as it is sent, and so does test', async () => {
  const { requests, host } = await startJsonServer({ said: 'yes!' });
  const { exitCode } = await runCases(`prompts: ['Say {{q}}']
providers:
  - id: http://${host}
    config:
      transformResponse: json.said
      request: |
        POST /chat?u={{q}} HTTP/1.1
        Host: ${host}
        Content-Type: application/json
        Content-Length: 3
        X-Team: docs

        {"messages": [{"role": "user", "content": "{{prompt}}"}], "n": 1}
${TESTS}`);
  expect(exitCode).toBe(0);
  expect(requests).toMatchObject([
    {
      url: '/chat?u=one%20%22two%22',
      headers: { 'x-team': 'docs' },
      body: { messages: [{ role: 'user', content: 'Say one "two"' }], n: 1 },
    },
  ]);
});

it('a request with variables in a body that is not JSON is refused with its line', async () => {
  const { requests, host } = await startJsonServer({});
  const { exitCode, stderr } = await runCases(`prompts: ['Say {{q}}']
providers:
  - id: http
    config:
      request: "POST / HTTP/1.1\\nHost: ${host}\\n\\na={{prompt}}"
${TESTS}`);
  expect(stderr).toContain(':5: the provider `http` has no equivalent');
  expect(exitCode).toBe(EXIT.usage);
  expect(requests).toEqual([]);
});

it('a body may dump a prompt with variables, and the transform of a response sees no `output`', async () => {
  const { requests, host } = await startJsonServer({ said: 'yes!' });
  const provider = (transform: string) => `
  - id: http
    label: ${transform}
    config:
      url: http://${host}/
      method: POST
      headers: { Content-Type: application/json }
      body: '{"p": {{ prompt | dump }}, "q": {{ q | dump }}}'
      transformResponse: ${transform}`;

  const { statuses } = await runCases(
    `prompts: ['Say {{q}}, "now"']\nproviders:${provider('json.said')}${provider('output.said')}\n${TESTS}`,
  );
  expect(statuses).toEqual(['passed', 'failed']);
  expect(requests[0]?.body).toEqual({ p: 'Say one "two", "now"', q: 'one "two"' });
});

it('a chat is sent to an address as JSON, and as a list where it is a whole value, as in promptfoo', async () => {
  const { requests, host } = await startJsonServer({ ok: true });
  const chat = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Ask {{q}}' },
  ];
  const config = `prompts: [${JSON.stringify(JSON.stringify(chat))}, 'Say {{q}}']
providers:
  - id: http://${host}/
    config:
      headers: { Content-Type: application/json }
      body: { messages: '{{prompt}}', text: 'go {{prompt}}' }
tests: [{ vars: { q: 'one "two"' } }]
`;

  expect((await runCases(config)).exitCode).toBe(0);

  const sentMessages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Ask one "two"' },
  ];
  expect(requests.map(({ body }) => body)).toEqual([
    { messages: sentMessages, text: `go ${JSON.stringify(sentMessages, undefined, 2)}` },
    { messages: 'Say one "two"', text: 'go Say one "two"' },
  ]);
});

it('a model for Chat Completions and for Responses is asked by both entries', async () => {
  const config = `prompts: ['{{a}}']
providers: ['openai:chat:gpt-4.1', 'openai:responses:gpt-4.1', 'openai:gpt-4.1']
tests: [{ vars: { a: b } }]
`;
  vi.stubEnv('OPENAI_API_KEY', 'sk-test');
  onTestFinished(() => void vi.unstubAllEnvs());
  const project = new Project({ 'promptfooconfig.yaml': config });
  const { stdout } = await project.run(['test', '--dry-run', '--json']);

  expect(JSON.parse(stdout())).toMatchObject({ cases: 2, faults: 0 });
});

it.each([
  ['{ enabled: false, servers: [{ command: npx }] }', 0],
  ['{ enabled: true, servers: [{ command: npx }] }', EXIT.usage],
])(
  'servers of tools in a config stop a file only if promptfoo connects to them: %s',
  async (mcp, code) => {
    const config = `prompts: ['{{a}}']
providers: [{ id: openai:gpt-4.1, config: { mcp: ${mcp} } }]
tests: [{ vars: { a: b } }]
`;
    vi.stubEnv('OPENAI_API_KEY', 'sk-test');
    onTestFinished(() => void vi.unstubAllEnvs());
    const project = new Project({ 'promptfooconfig.yaml': config });
    const { exitCode } = await project.run(['test', '--dry-run']);

    expect(exitCode).toBe(code);
  },
);
