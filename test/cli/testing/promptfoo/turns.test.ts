import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { Project } from '../../../support/project.ts';

/**
 * Starts a provider that ends with the test. It numbers its answers, and fails prompts with FAIL in
 * them. Returns its entry in a configuration, and the prompts that it was asked.
 */
async function startNumberingProvider() {
  const prompts: string[] = [];
  const server = createServer((request, response) => {
    void answer(request, response);
  });

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { prompt } = JSON.parse(await text(request)) as { prompt: string };
    prompts.push(prompt);
    response.statusCode = prompt.includes('FAIL') ? 400 : 200;
    response.end(JSON.stringify({ answer: `answer "${prompts.length}"` }));
  };

  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const entry = `
  - id: http://127.0.0.1:${port}/
    config:
      method: POST
      headers: { content-type: application/json }
      body: { prompt: '{{prompt}}' }
      transformResponse: json.answer
`;

  return { prompts, entry };
}

interface ReportedCase {
  readonly name: string;
  readonly status: string;
}

/** Runs `test`, and returns its cases with their statuses, such as `case 1 passed`. */
async function runTests(project: Project, ...flags: string[]) {
  const argv = ['test', 'promptfooconfig.yaml', '--allow-commands', '--json', ...flags];
  const { exitCode, stdout, stderr } = await project.run(argv);
  const { cases } = JSON.parse(stdout()) as { readonly cases: readonly ReportedCase[] };

  return {
    exitCode,
    stderr: stderr(),
    cases: cases.map(({ name, status }) => `${name} ${status}`),
  };
}

const CHAT = `prompts:
  - |
    {% for turn in _conversation %}{{ turn.input }} => {{ turn.output }}; {% endfor %}{{ question }}
providers:`;

const QUESTIONS = `tests:
  - vars: { question: one }
    assert: [{ type: javascript, value: context.vars._conversation.length === 0 }]
  - vars: { question: other }
    metadata: { conversationId: two }
  - vars: { question: three }
    assert: [{ type: contains, value: nope }]
`;

describe('cases of promptfoo that take the answers of earlier ones', () => {
  it('continue their conversation, and no other', async () => {
    const { prompts, entry } = await startNumberingProvider();
    const project = new Project({ 'promptfooconfig.yaml': `${CHAT}${entry}${QUESTIONS}` });
    const { exitCode, cases } = await runTests(project, '--concurrency', '8');
    expect(cases).toEqual(['case 1 passed', 'case 2 passed', 'case 3 failed']);
    expect(exitCode).toBe(EXIT.runFailed);
    expect(prompts).toEqual(['one\n', 'other\n', 'one\n => answer "1"; three\n']);
  });

  it('run with the cases whose answers they take if --filter chooses only them', async () => {
    const { prompts, entry } = await startNumberingProvider();
    const config = `${CHAT}${entry}${QUESTIONS}`;
    const project = new Project({ 'promptfooconfig.yaml': config });

    expect((await runTests(project, '--filter', 'case 3')).cases).toEqual([
      'case 1 passed',
      'case 3 failed',
    ]);
    expect(prompts).toEqual(['one\n', 'one\n => answer "1"; three\n']);
  });

  it('run again with the cases whose answers they take with --failed', async () => {
    const { prompts, entry } = await startNumberingProvider();
    const project = new Project({ 'promptfooconfig.yaml': `${CHAT}${entry}${QUESTIONS}` });
    await runTests(project);
    prompts.length = 0;

    expect((await runTests(project, '--failed')).cases).toEqual(['case 1 passed', 'case 3 failed']);
    expect(prompts).toEqual(['one\n', 'one\n => answer "1"; three\n']);
  });

  it('are not asked again by --resume, which asks only the case that was never asked', async () => {
    const { prompts, entry } = await startNumberingProvider();
    const project = new Project({ 'promptfooconfig.yaml': `${CHAT}${entry}${QUESTIONS}` });
    await runTests(project, '--filter', 'case 3');
    prompts.length = 0;

    expect((await runTests(project, '--resume')).cases).toEqual([
      'case 1 passed',
      'case 2 passed',
      'case 3 failed',
    ]);
    expect(prompts).toEqual(['other\n']);
  });

  it('are asked again by --resume if an earlier question was edited', async () => {
    const { prompts, entry } = await startNumberingProvider();
    const config = `${CHAT}${entry}${QUESTIONS}`;
    const project = new Project({ 'promptfooconfig.yaml': config });
    await runTests(project);
    prompts.length = 0;
    project.write('promptfooconfig.yaml', config.replace('question: one', 'question: new'));
    await runTests(project, '--resume');

    expect(prompts).toEqual(['new\n', 'new\n => answer "1"; three\n']);
  });

  it('are not asked if an earlier one has no answer', async () => {
    const { prompts, entry } = await startNumberingProvider();
    const config = `${CHAT}${entry}${QUESTIONS.replace('question: one', 'question: FAIL')}`;
    const project = new Project({ 'promptfooconfig.yaml': config });
    const { exitCode, cases, stderr } = await runTests(project);

    expect(cases).toEqual(['case 1 failed', 'case 2 passed', 'case 3 fault']);
    expect(exitCode).toBe(EXIT.runFailed);
    expect(prompts).toEqual(['FAIL\n', 'other\n']);
    expect(stderr).not.toContain('--resume');
  });

  it('keep their answers, as transformed, in variables for later ones', async () => {
    const { prompts, entry } = await startNumberingProvider();
    const config = `prompts: ['Say: {{question}}']
providers:${entry}tests:
  - vars: { question: one }
    options: { storeOutputAs: first, transform: 'output.toUpperCase()' }
  - vars: { question: 'two {{first}}' }
    options: { storeOutputAs: second }
    assert: [{ type: javascript, value: context.vars.first === 'ANSWER "1"' }]
  - vars: { question: '{{first}} {{second}} {{third}}' }
`;
    const project = new Project({ 'promptfooconfig.yaml': config });
    const { cases } = await runTests(project);

    expect(cases).toEqual(['case 1 passed', 'case 2 passed', 'case 3 passed']);
    expect(prompts).toEqual([
      'Say: one',
      'Say: two ANSWER "1"',
      'Say: ANSWER "1" answer "2" {{third}}',
    ]);
  });

  it('are refused as a batch', async () => {
    const config = `prompts: ['{{question}}']
providers: [echo]
tests:
  - vars: { question: one }
    options: { storeOutputAs: first }
  - vars: { question: 'two {{first}}' }
`;
    const project = new Project({ 'promptfooconfig.yaml': config });
    const { exitCode, stderr } = await project.run(['test', '--provider-batch']);

    expect(stderr()).toContain(
      "promptfooconfig.yaml:4: its cases use each other's answers, so they can't run in a batch",
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it("are refused with an assertion that takes another's answer", async () => {
    const config = `prompts: ['{{question}}']
providers: [openai:chat:gpt-4o]
tests:
  - vars: { question: one }
    options: { storeOutputAs: first }
  - vars: { question: two }
    assert: [{ type: contains, value: 'a {{first}}' }]
`;
    const project = new Project({ 'promptfooconfig.yaml': config });
    const { exitCode, stderr } = await project.run(['test', 'promptfooconfig.yaml']);

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).toContain(
      'promptfooconfig.yaml:7: an assertion with `{{first}}`, the answer of another test, has no equivalent',
    );
  });
});

describe('prompts of promptfoo in Nunjucks', () => {
  it('may have loops, filters and values that are not texts', async () => {
    const config = `prompts:
  - '{% set all = user.tags %}{{ user.name | upper }}:{% for tag in all %} {{ loop.index }}{{ tag }}{% if not loop.last %},{% endif %}{% endfor %} {{ topic }}'
  - |
    [{% for turn in history %}{"role": "{{ turn.role }}", "content": {{ turn.text | dump }}}{% if not loop.last %},{% endif %}{% endfor %}]
providers: [echo]
tests:
  - vars:
      topic: '{{ user.name | lower }} & <b> {{open'
      user: { name: Ann, tags: [x, y] }
      history: [{ role: system, text: 'a "b"' }, { role: user, text: "{{ c }}\\n{% d" }]
    assert: [{ type: javascript, value: 'output.startsWith("ANN: 1x, 2y {") && output.endsWith(" <b> " + "{".repeat(2) + "open")' }]
`;
    const project = new Project({ 'promptfooconfig.yaml': config });
    const { stdout } = await project.run(['test', 'promptfooconfig.yaml', '--json']);
    const { cases } = JSON.parse(stdout()) as { readonly cases: readonly object[] };

    expect(cases).toMatchObject([
      { name: 'case 1 (prompt 1)', status: 'passed' },
      { name: 'case 1 (prompt 2)', status: 'failed' },
    ]);

    const answer = 'a "b"\n\n{{ c }}\n{% d';
    expect(cases[1]).toMatchObject({ repetitions: [{ outputs: [{ data: answer }] }] });
  });

  it('fail only the case whose variables they cannot render', async () => {
    const config = `prompts: ['{{ a.list | join(" ") }}{{ b }}']
providers: [echo]
tests:
  - { vars: { a: { list: [x, y] }, b: '!' }, assert: [{ type: equals, value: 'x y!' }] }
  - { vars: { b: '!' } }
`;
    const { exitCode, cases } = await runTests(new Project({ 'promptfooconfig.yaml': config }));
    expect(cases).toEqual(['case 1 passed', 'case 2 fault']);
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each([
    { prompt: '{% if a %}x', message: 'parseIf' },
    { prompt: '{{ a | nothing }}', message: 'filter not found: nothing' },
    {
      prompt: '{{ "".constructor.constructor("return process.env")() }}',
      message: 'process',
    },
    { prompt: '[{"role": "user", "content": {{ a | upper }}}]', message: 'is not JSON' },
  ])(
    'are refused before anything is sent if they cannot be rendered: $prompt',
    async ({ prompt, message }) => {
      const config = JSON.stringify({
        prompts: [prompt],
        providers: ['echo'],
        tests: [{ vars: { a: 'x' } }],
      });
      const project = new Project({ 'promptfooconfig.json': config });
      const { exitCode, stderr } = await project.run(['test', 'promptfooconfig.json']);
      expect(stderr()).toContain(message);
      expect(exitCode).toBe(EXIT.usage);
    },
  );
});
