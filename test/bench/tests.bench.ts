import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildCommandEnvironment } from '../support/environment.ts';
import { type Cost, findCost, pickLowerCost } from './command-cost.ts';

const CASES = 200;
const CONCURRENCY = 16;
const ANSWER_MS = 50;
const ROUNDS = 3;

/**
 * A chat model that repeats what it is asked; in a separate process, so that it costs neither side
 * anything.
 */
const PROVIDER = `
const server = require('node:http').createServer((request, response) => {
  const pieces = [];
  request.on('data', piece => pieces.push(piece)).on('end', () => {
    const { messages, stream } = JSON.parse(Buffer.concat(pieces));
    const content = String(messages.at(-1).content);
    const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
    const about = { id: 'a', created: 1, model: 'double' };
    const chunk = value => 'data: ' + JSON.stringify({ ...about, object: 'chat.completion.chunk', ...value }) + '\\n\\n';
    setTimeout(() => {
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      response.end(stream
        ? chunk({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: 'stop' }], usage }) + 'data: [DONE]\\n\\n'
        : JSON.stringify({ ...about, object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage }));
    }, ${ANSWER_MS});
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

/**
 * Runs the same 200 cases of one prompt, against promptfoo if `PROMPTFOO_BIN` names an installed
 * one.
 */
export default async function benchTests(): Promise<void> {
  const home = mkdtempSync(path.join(tmpdir(), 'promptrun-bench-'));
  const provider = spawn(process.execPath, ['-e', PROVIDER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [port] = (await once(provider.stdout, 'data')) as [Buffer];
    const baseUrl = `http://127.0.0.1:${String(port).trim()}/v1`;
    writeCases(home, baseUrl);
    const env = buildCommandEnvironment(home, {
      OPENAI_API_KEY: 'a-key',
      OPENAI_BASE_URL: baseUrl,
    });
    const command = [process.execPath, path.resolve('bin/promptrun.js'), 'test', 'say.test.yaml'];
    const own = measureLeastCost([...command, '--concurrency', String(CONCURRENCY)], env, home);
    write(
      `test, ${CASES} cases at concurrency ${CONCURRENCY}, answers after ${ANSWER_MS} ms: ${formatCost(own)}`,
    );
    const { PROMPTFOO_BIN: promptfoo } = process.env;
    if (promptfoo === undefined) {
      return write('  name an installed promptfoo with PROMPTFOO_BIN to compare');
    }

    const quiet = {
      PROMPTFOO_DISABLE_TELEMETRY: '1',
      PROMPTFOO_DISABLE_UPDATE: '1',
      PROMPTFOO_CONFIG_DIR: home,
    };

    const other = measureLeastCost(
      [process.execPath, path.resolve(promptfoo), ...EVAL],
      { ...env, ...quiet },
      home,
    );
    write(
      `  promptfoo: ${formatCost(other)}; of that ${(own.wall / other.wall).toFixed(2)} wall (at most 0.30), ` +
        `${(own.cpu / other.cpu).toFixed(2)} CPU (at most 0.25)`,
    );
  } finally {
    provider.kill();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Both keep every result on disk, as they come; an answer from a cache would be none of the
 * provider's.
 */
const EVAL = ['eval', '-c', 'promptfooconfig.yaml', '-j', String(CONCURRENCY), '--no-cache'];

function writeCases(home: string, apiBaseUrl: string): void {
  const names = Array.from({ length: CASES }, (_, index) => `name ${index}`);
  const front = 'model: openai/gpt-4o-mini\ninput: { schema: { name: string } }';
  writeFileSync(path.join(home, 'say.prompt'), `---\n${front}\n---\nSay {{name}}\n`);
  const cases = names.map(name => ({ inputs: { name }, expect: [{ contains: name }] }));

  // JSON is YAML.
  writeFileSync(path.join(home, 'say.test.yaml'), JSON.stringify({ cases }));
  const config = {
    prompts: ['Say {{name}}'],
    providers: [{ id: 'openai:chat:gpt-4o-mini', config: { apiBaseUrl } }],
    tests: names.map(name => ({ vars: { name }, assert: [{ type: 'contains', value: name }] })),
  };
  writeFileSync(path.join(home, 'promptfooconfig.yaml'), JSON.stringify(config));
}

/** Returns the lowest cost of a few rounds, after one that is not counted. */
function measureLeastCost(argv: readonly string[], env: Record<string, string>, cwd: string): Cost {
  const costs = Array.from({ length: ROUNDS + 1 }, () => findCost({ argv, env, cwd }));
  return costs.slice(1).reduce(pickLowerCost);
}

function formatCost({ wall, cpu }: Cost): string {
  return `${(wall / 1000).toFixed(2)} s, ${(cpu / 1000).toFixed(2)} s CPU`;
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
