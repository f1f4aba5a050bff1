import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { localService } from '../../src/main.ts';
import { runInProcess } from '../support/context.ts';

const GUIDE = readFileSync(path.resolve(import.meta.dirname, '../../docs/models.md'), 'utf8');
const [, PART = ''] = GUIDE.split('## Programs and addresses\n');
const fenced = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'su').exec(PART)?.[1] ?? '';

/** What each program prints for an answer, in its documented form; `ANSWER` stands for the answer as a JSON string. */
const PRINTED: Readonly<
  Record<string, { readonly args: RegExp; readonly printed: string; readonly isJson: boolean }>
> = {
  // The JSON of `claude -p --output-format json`: https://docs.claude.com/en/docs/claude-code/headless
  claude: {
    args: /^-p --output-format json$/,
    isJson: true,
    printed:
      '{"type":"result","subtype":"success","is_error":false,"duration_ms":2100,"num_turns":1,"result":ANSWER,"session_id":"s","total_cost_usd":0.0125,"usage":{"input_tokens":3,"cache_creation_input_tokens":100,"cache_read_input_tokens":900,"output_tokens":7}}',
  },
  // The events of `codex exec --json`: https://github.com/openai/codex/blob/main/docs/exec.md
  codex: {
    args: /^exec --json --skip-git-repo-check -$/,
    isJson: true,
    printed: [
      '{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}',
      '{"type":"turn.started"}',
      '{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"**Thinking**"}}',
      '{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":ANSWER}}',
      '{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122}}',
    ].join('\n'),
  },
  // The JSON of `gemini --output-format json`: https://geminicli.com/docs/cli/headless
  gemini: {
    args: /^--output-format json$/,
    isJson: true,
    printed:
      '{"response":ANSWER,"stats":{"models":{"gemini-2.5-pro":{"api":{"totalRequests":2,"totalErrors":0,"totalLatencyMs":5053},"tokens":{"prompt":24939,"candidates":20,"total":25113,"cached":21263,"thoughts":154,"tool":0}}},"tools":{"totalCalls":0}}}',
  },
  // With -s nothing but the response: https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-programmatic-reference
  copilot: { args: /^-s --no-color --no-ask-user$/, isJson: false, printed: 'ANSWER' },
  // Text: https://llm.datasette.io/en/stable/usage.html
  llm: { args: /^-m gpt-6-luna --no-stream$/, isJson: false, printed: 'ANSWER' },
  // Text: https://github.com/ollama/ollama/blob/main/docs/cli.mdx
  ollama: { args: /^run llama3\.2$/, isJson: false, printed: 'ANSWER' },
};

/** A program that answers with what it is asked, as the one that it stands for prints it. */
function double({ args, isJson, printed }: (typeof PRINTED)[string]): string {
  return `#!${process.execPath}
const asked = require('node:fs').readFileSync(0, 'utf8');
if (!${String(args)}.test(process.argv.slice(2).join(' '))) throw new Error(process.argv.join(' '));
console.log(${JSON.stringify(printed)}.replace('ANSWER', () => ${isJson ? 'JSON.stringify(asked)' : 'asked'}));
`;
}

describe.skipIf(process.platform === 'win32')(
  'the entries for programs and addresses in docs/models.md',
  () => {
    const home = mkdtempSync(path.join(tmpdir(), 'declared-'));
    afterAll(() => rmSync(home, { recursive: true, force: true }));
    const bin = path.join(home, 'bin');
    mkdirSync(bin);
    for (const [name, program] of Object.entries(PRINTED)) {
      writeFileSync(path.join(bin, name), double(program));
      chmodSync(path.join(bin, name), 0o755);
    }
    writeFileSync(path.join(home, 'rag.py'), fenced('python'));
    writeFileSync(
      path.join(home, 'ask.prompt'),
      '---\ninput: {schema: {question: string}}\n---\nSay {{question}}\n',
    );

    async function ask(model: string, yaml = fenced('yaml')): Promise<{ text: string; usage: unknown }> {
      writeFileSync(path.join(home, 'models.yaml'), yaml);
      const argv = [
        'run',
        'ask.prompt',
        '--models',
        'models.yaml',
        '-m',
        model,
        '-i',
        'question=-"why"?',
        '--json',
      ];
      const { exitCode, stdout, stderr } = await runInProcess(argv, {
        home,
        local: serviceWith(bin),
      });
      expect({ exitCode, said: stdout() + stderr() }).toMatchObject({ exitCode: 0 });
      const { runId, outputs } = JSON.parse(stdout()) as { runId: string; outputs: { data: string }[] };
      const shown = await runInProcess(['runs', 'show', runId, '--json'], { home, local: localService });
      const { usage } = JSON.parse(shown.stdout()) as { usage: unknown };
      return { text: outputs[0]?.data ?? '', usage };
    }

    it.each([
      ['claude-code', { tokens: { input: 1003, output: 7, cached: 900 }, cost: 0.0125 }],
      ['codex', { tokens: { input: 24_763, output: 122, cached: 24_448 }, cost: 0.004_669_75 }],
      ['gemini-cli', { tokens: { input: 24_939, output: 174, cached: 21_263 }, cost: 0.008_992_87 }],
      ['copilot', { tokens: null, cost: 0.04 }],
      ['llm', { tokens: null, cost: null }],
      ['ollama-cli', { tokens: null, cost: 0 }],
    ])('work as they stand: %s', async (model, usage) => {
      expect(await ask(model)).toMatchObject({ text: 'Say -"why"?', usage });
    });

    it('work as they stand: a Python function', async () => {
      expect(await ask('our-rag')).toMatchObject({ text: 'You asked: -"why"?' });
    });

    it('work as they stand: an HTTP bot', async () => {
      const asked: unknown[] = [];
      const server = createServer((request, response) => {
        request
          .setEncoding('utf8')
          .on('data', body => asked.push([request.headers.authorization, JSON.parse(String(body))]));
        request.on('end', () =>
          response.end('{"answer": {"text": "Because."}, "usage": {"in": 1000, "out": 500}}'),
        );
      });
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const yaml = fenced('yaml').replace('https://bot.corner.example', `http://127.0.0.1:${port}`);
      const answer = await ask('our-bot', yaml).finally(() => server.close());
      expect(answer).toMatchObject({
        text: 'Because.',
        usage: { tokens: { input: 1000, output: 500, cached: 0 }, cost: 0.0015 },
      });
      const history = [{ role: 'user', content: [{ text: 'Say -"why"?' }] }];
      expect(asked).toEqual([['Bearer bot-key', { question: 'Say -"why"?', history }]]);
    });
  },
);

/** The local service with doubles before all other programs. */
function serviceWith(bin: string): typeof localService {
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, BOT_KEY: 'bot-key' };
  return {
    ...localService,
    start: async options =>
      (await import('../../src/service/embedded.ts')).startEmbedded({ ...options, env }),
  };
}
