import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { localService } from '../../src/main.ts';
import { runInProcess } from '../support/context.ts';

const GUIDE = readFileSync(path.resolve(import.meta.dirname, '../../docs/models.md'), 'utf8');
const [, PART = ''] = GUIDE.split('## Programs and addresses\n');

const getFencedBlock = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'su').exec(PART)?.[1] ?? '';

interface Double {
  readonly args: RegExp;
  /** Its output for an answer; `ANSWER` stands for the answer as a JSON string. */
  readonly printed: string;
  readonly isJson: boolean;
  /** Its output for a refused key, with exit code 1. */
  readonly refused?: { readonly stdout?: string; readonly stderr?: string; readonly code?: number };
}

/**
 * The forms are those that the programs of these versions print; a scripted server stood in for
 * their provider.
 */
const PRINTED: Readonly<Record<string, Double>> = {
  // Claude Code 2.1.332, with a subagent: `usage` counts its last part only, `modelUsage` and the
  // cost count all of it.
  claude: {
    args: /^-p --output-format json$/,
    isJson: true,
    printed:
      '{"duration_api_ms":4593,"stop_reason":"end_turn","session_id":"s","total_cost_usd":0.0125,"usage":{"input_tokens":3,"cache_creation_input_tokens":100,"cache_read_input_tokens":90,"output_tokens":7},"modelUsage":{"claude-opus-5-5":{"inputTokens":3,"outputTokens":5,"cacheReadInputTokens":800,"cacheCreationInputTokens":60,"costUSD":0.012},"claude-haiku-5":{"inputTokens":0,"outputTokens":2,"cacheReadInputTokens":100,"cacheCreationInputTokens":40,"costUSD":0.0005}},"is_error":false,"num_turns":1,"subtype":"success","result":ANSWER,"type":"result","duration_ms":686}',
    refused: {
      stdout:
        '{"duration_api_ms":0,"stop_reason":"stop_sequence","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{},"is_error":true,"num_turns":1,"subtype":"success","api_error_status":401,"result":"Invalid API key · Fix external API key","type":"result"}\n',
    },
  },
  // Codex 0.171.0.
  codex: {
    args: /^exec --json --skip-git-repo-check -m gpt-6-sol -$/,
    isJson: true,
    printed: [
      '{"type":"thread.started","thread_id":"01a21df8-75ef-7651-b94e-370d9880ef46"}',
      '{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}',
      '{"type":"turn.started"}',
      '{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":"**Thinking**"}}',
      '{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":ANSWER}}',
      '{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"cache_write_input_tokens":0,"output_tokens":122,"reasoning_output_tokens":20}}',
    ].join('\n'),
    refused: {
      stderr: 'WARNING: proceeding\n',
      stdout: [
        '{"type":"thread.started","thread_id":"01a21df8-9069-7750-96f7-17414c30660e"}',
        '{"type":"turn.started"}',
        '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"I begin."}}',
        '{"type":"error","message":"unexpected status 401 Unauthorized: Incorrect API key"}',
        '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: Incorrect API key"}}',
      ].join('\n'),
    },
  },
  // Gemini CLI 0.61.0.
  gemini: {
    args: /^--skip-trust --output-format json -m gemini-3\.5-flash$/,
    isJson: true,
    printed:
      '{"session_id":"s","response":ANSWER,"stats":{"models":{"gemini-3.5-flash":{"api":{"totalRequests":2,"totalErrors":0,"totalLatencyMs":5053,"errorsByType":{}},"tokens":{"input":3676,"prompt":24939,"candidates":20,"total":25113,"cached":21263,"thoughts":154,"tool":0},"roles":{}}},"tools":{"totalCalls":0},"files":{"totalLinesAdded":0,"totalLinesRemoved":0}}}',
    refused: {
      code: 41,
      stderr: '{\n  "error": {\n    "message": "Invalid auth method selected."\n  }\n}\n',
    },
  },
  // Copilot CLI 1.0.102 with -s: nothing but the response, and an empty line.
  copilot: {
    args: /^-s --no-color --no-ask-user --max-ai-credits 30$/,
    isJson: false,
    printed: 'ANSWER\n',
    refused: { stderr: '\nAuthentication failed with provider (HTTP 401).\n' },
  },
  // Text: https://llm.datasette.io/en/stable/usage.html
  llm: { args: /^-m gpt-5\.6-luna --no-stream$/, isJson: false, printed: 'ANSWER' },
  // Text: https://github.com/ollama/ollama/blob/main/docs/cli.mdx
  ollama: { args: /^run --hidethinking llama3\.2$/, isJson: false, printed: 'ANSWER\n' },
};

/**
 * Writes a program that answers with its input, in the format of the program that it stands for.
 */
function writeDouble({
  args,
  isJson,
  printed,
  refused: { stdout = '', stderr = '', code = 1 } = {},
}: Double): string {
  return `#!${process.execPath}
const asked = require('node:fs').readFileSync(0, 'utf8');
if (asked.includes('refuse')) {
  process.stdout.write(${JSON.stringify(stdout)});
  process.stderr.write(${JSON.stringify(stderr)});
  process.exitCode = ${code};
  return;
}
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
      writeFileSync(path.join(bin, name), writeDouble(program));
      chmodSync(path.join(bin, name), 0o755);
    }

    writeFileSync(path.join(home, 'rag.py'), getFencedBlock('python'));
    writeFileSync(
      path.join(home, 'ask.prompt'),
      '---\ninput: {schema: {question: string}}\n---\nSay {{question}}\n',
    );

    function run(model: string, question: string, yaml = getFencedBlock('yaml')) {
      writeFileSync(path.join(home, 'models.yaml'), yaml);
      const argv = ['run', 'ask.prompt', '--models', 'models.yaml', '-m', model];
      return runInProcess([...argv, '-i', `question=${question}`, '--json'], {
        home,
        local: createServiceWith(bin),
      });
    }

    async function ask(model: string, yaml?: string): Promise<{ text: string; usage: unknown }> {
      const { exitCode, stdout, stderr } = await run(model, '-"why"?', yaml);
      expect({ exitCode, said: stdout() + stderr() }).toMatchObject({ exitCode: 0 });

      const { runId, outputs } = JSON.parse(stdout()) as {
        runId: string;
        outputs: { data: string }[];
      };
      const details = await runInProcess(['runs', 'show', runId, '--json'], {
        home,
        local: localService,
      });
      const { usage } = JSON.parse(details.stdout()) as { usage: unknown };
      return { text: outputs[0]?.data ?? '', usage };
    }

    it.each([
      ['claude-code', { tokens: { input: 1003, output: 7, cached: 900 }, cost: 0.0125 }],
      ['codex', { tokens: { input: 24_763, output: 122, cached: 24_448 }, cost: 0.006_739_6 }],
      [
        'gemini-cli',
        { tokens: { input: 24_939, output: 174, cached: 21_263 }, cost: 0.010_269_45 },
      ],
      ['copilot', { tokens: null, cost: 0.3 }],
      ['llm', { tokens: null, cost: null }],
      ['ollama-cli', { tokens: null, cost: 0 }],
    ])('work as they stand: %s', async (model, usage) => {
      const answer = await ask(model);
      expect(answer).toMatchObject({ usage });
      expect(answer.text.trimEnd()).toBe('Say -"why"?');
    });

    it.each([
      [
        'claude-code',
        /claude-code ended with exit code 1: Invalid API key · Fix external API key$/m,
      ],
      [
        'codex',
        /codex ended with exit code 1: WARNING: proceeding; unexpected status 401 Unauthorized: Inc/,
      ],
      ['gemini-cli', /gemini-cli ended with exit code 41: .*Invalid auth method selected/s],
      ['copilot', /copilot ended with exit code 1: Authentication failed with provider/],
    ])('say why a run failed: %s', async (model, reason) => {
      const { exitCode, stdout } = await run(model, 'refuse');
      expect(exitCode).toBe(EXIT.runFailed);
      const { outputs } = JSON.parse(stdout()) as { outputs: { data: string }[] };
      expect(outputs.at(-1)?.data).toMatch(reason);
    });

    it('work as they stand: a Python function', async () => {
      expect(await ask('our-rag')).toMatchObject({ text: 'You asked: -"why"?' });
    });

    it('work as they stand: an HTTP bot', async () => {
      const requests: unknown[] = [];
      const server = createServer((request, response) => {
        request
          .setEncoding('utf8')
          .on('data', body =>
            requests.push([request.headers.authorization, JSON.parse(String(body))]),
          );
        request.on('end', () =>
          response.end('{"answer": {"text": "Because."}, "usage": {"in": 1000, "out": 500}}'),
        );
      });
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const yaml = getFencedBlock('yaml').replace(
        'https://bot.corner.example',
        `http://127.0.0.1:${port}`,
      );
      const answer = await ask('our-bot', yaml).finally(() => server.close());

      expect(answer).toMatchObject({
        text: 'Because.',
        usage: { tokens: { input: 1000, output: 500, cached: 0 }, cost: 0.0015 },
      });

      const history = [{ role: 'user', content: [{ text: 'Say -"why"?' }] }];
      expect(requests).toEqual([['Bearer bot-key', { question: 'Say -"why"?', history }]]);
    });
  },
);

/** Returns the local service with doubles before all other programs. */
function createServiceWith(bin: string): typeof localService {
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, BOT_KEY: 'bot-key' };
  return {
    ...localService,
    start: async options =>
      (await import('../../src/service/embedded.ts')).startEmbedded({ ...options, env }),
  };
}
