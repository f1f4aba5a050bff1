import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { buildCommandEnvironment } from '../support/environment.ts';
import { isPosix } from '../support/system.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

const ACTION = parse(readFileSync(path.join(root, 'action.yml'), 'utf8')) as {
  readonly inputs: Record<string, unknown>;
  readonly outputs: Record<string, unknown>;
  readonly runs: {
    readonly steps: readonly { readonly run: string; readonly env: Record<string, string> }[];
  };
};

interface Step {
  readonly code: number | null;
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly home: string;
}

/**
 * Runs the step of action.yml as a runner would: its inputs in the variables it names, its outputs
 * in a file.
 */
async function runStep(
  inputs: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
  extraEnv: Readonly<Record<string, string>> = {},
): Promise<Step> {
  const home = createTemporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  const output = path.join(home, 'output');
  writeFileSync(output, '');
  mkdirSync(path.join(home, 'runner'));
  const [step] = ACTION.runs.steps;
  const environment = Object.entries(step?.env ?? {}).map(([variable, expression]) => {
    const name = /^\$\{\{ inputs\.([\w-]+) \}\}$/u.exec(expression)?.[1];
    return [variable, inputs[name ?? ''] ?? ''] as const;
  });
  const runner = {
    GITHUB_ACTION_PATH: root,
    GITHUB_OUTPUT: output,
    RUNNER_TEMP: path.join(home, 'runner'),
    GITHUB_ACTIONS: 'true',
  };
  const child = spawn('bash', ['-e', '-c', step?.run ?? ''], {
    cwd: home,
    env: buildCommandEnvironment(home, {
      ...Object.fromEntries(environment),
      ...runner,
      ...extraEnv,
    }),
  });
  let log = '';
  child.stdout.on('data', (piece: Buffer) => (log += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (log += piece.toString()));
  const code = await new Promise<number | null>(resolve => child.on('close', resolve));

  return { code, log, home, outputs: readOutputs(readFileSync(output, 'utf8')) };
}

/** Reads the file of outputs as the runner does: a name, a delimiter, lines up to the delimiter. */
function readOutputs(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split('\n');
  for (let line = lines.shift(); line !== undefined && line !== ''; line = lines.shift()) {
    const [name = '', delimiter = ''] = line.split('<<');
    const end = lines.indexOf(delimiter);
    outputs[name] = lines
      .splice(0, end + 1)
      .slice(0, -1)
      .join('\n');
  }

  return outputs;
}

/** Returns the lines of a log that the runner takes for commands. */
function listCommandsIn(log: string): string[] {
  const commands: string[] = [];
  let stopped: string | undefined;
  for (const line of log.split('\n')) {
    if (stopped === undefined && line.trimStart().startsWith('::')) commands.push(line);
    stopped ??= /^::stop-commands::(.+)$/u.exec(line)?.[1];
    if (line === `::${stopped}::`) stopped = undefined;
  }

  return commands;
}

/**
 * Returns the environment of a runner whose checkout is not built, and whose `npm` is a shell
 * script.
 */
function createUnbuiltEnv(npm: string): Record<string, string> {
  const checkout = createTemporaryDirectory();
  cpSync(path.join(root, 'action'), path.join(checkout, 'action'), { recursive: true });
  cpSync(path.join(root, 'package.json'), path.join(checkout, 'package.json'));
  const bin = createTemporaryDirectory();
  writeFileSync(path.join(bin, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  return { GITHUB_ACTION_PATH: checkout, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
}

/** Shell script of an `npm` that makes a package that prints its arguments, in the folder of `--prefix`. */
const FAKE_NPM = `for arg in "$@"; do case "$arg" in --prefix=*) folder="\${arg#--prefix=}";; esac; done
    mkdir -p "$folder/node_modules/promptrun/bin"
    { pwd; printf "%s\\n" "$@"; env; } > "$RUNNER_TEMP/npm.log"
    echo 'for (const arg of process.argv.slice(2)) console.log(arg)' > "$folder/node_modules/promptrun/bin/promptrun.js"`;

const readResponse = ({ outputs }: Step): string =>
  readFileSync(outputs['response-file'] ?? '', 'utf8');

const HELLO = { prompt: 'hello.prompt', input: 'name=Ada' };
const FILES = { 'hello.prompt': '---\nmodel: echo\n---\nHi {{name}}' };
const ECHO = '---\nmodel: echo\n---\n{{text}}';

describe.runIf(isPosix)('the action', () => {
  it('declares the inputs and outputs of its step', () => {
    const usedExpressions = Object.values(ACTION.runs.steps[0]?.env ?? {}).join();
    for (const name of Object.keys(ACTION.inputs)) {
      expect(usedExpressions).toContain(`inputs.${name} `);
    }

    expect(Object.keys(ACTION.outputs)).toEqual(['response', 'response-file', 'json', 'run-id']);
    // An expression in the text of a step would be a way into its shell.
    expect(ACTION.runs.steps[0]?.run).not.toContain('${{');
  });

  it('runs a prompt and returns its answer, its JSON and its id', async () => {
    const step = await runStep(HELLO, FILES);
    expect(step.log.includes('::error')).toBe(false);
    expect(step.code).toBe(0);
    expect(readResponse(step)).toContain('Ada');
    expect(JSON.parse(step.outputs['json'] ?? '')).toMatchObject({ runId: step.outputs['run-id'] });
  });

  it.each([
    { name: 'a link', link: 'answer.txt', target: 'file', responseFile: 'answer.txt' },
    { name: 'a link to nothing', link: 'answer.txt', target: 'none', responseFile: 'answer.txt' },
    { name: 'a folder that is a link', link: 'out', target: '.', responseFile: 'out/answer.txt' },
    {
      name: 'a link in the middle',
      link: 'out/in',
      target: '.',
      responseFile: 'out/in/deep/answer.txt',
    },
  ])('writes no answer over $name, and runs nothing then', async scene => {
    const { link, target, responseFile } = scene;
    const outside = createTemporaryDirectory();
    writeFileSync(path.join(outside, 'file'), 'former');
    const home = createTemporaryDirectory();
    mkdirSync(path.dirname(path.join(home, link)), { recursive: true });
    symlinkSync(path.join(outside, target), path.join(home, link));
    const workspace = { GITHUB_WORKSPACE: home };
    const step = await runStep({ ...HELLO, 'response-file': responseFile }, FILES, workspace);

    expect(step.outputs).toEqual({});
    expect(step.code).toBe(EXIT.usage);
    expect(step.log).toContain(path.join(home, link));
    expect(readFileSync(path.join(outside, 'file'), 'utf8')).toBe('former');
    expect(readdirSync(outside)).toEqual(['file']);
  });

  it('writes an answer below the workspace, or to an absolute path that is not a link', async () => {
    const home = createTemporaryDirectory();
    symlinkSync(home, path.join(home, 'workspace'));
    const workspace = { GITHUB_WORKSPACE: path.join(home, 'workspace') };
    const below = await runStep(
      { ...HELLO, 'response-file': 'made/in/answer.txt' },
      FILES,
      workspace,
    );

    expect(readFileSync(path.join(home, 'made/in/answer.txt'), 'utf8')).toBe(
      below.outputs['response'],
    );

    const absolute = path.join(home, 'workspace/absolute.txt');
    const step = await runStep({ ...HELLO, 'response-file': absolute }, FILES, workspace);

    expect(step.outputs['response-file']).toBe(absolute);
    expect(step.code).toBe(0);
    expect(readResponse(step)).toBe(step.outputs['response']);

    for (const file of ['../answer.txt', 'a/../../answer.txt', path.join(home, 'link.txt')]) {
      if (path.isAbsolute(file)) symlinkSync('absolute.txt', file);
      const refused = await runStep({ ...HELLO, 'response-file': file }, FILES, workspace);
      expect(refused.outputs, file).toEqual({});
      expect(refused.code, file).toBe(EXIT.usage);
    }
  });

  it('hands over a hostile answer intact, and nothing of it runs', async () => {
    const hostile =
      '::set-output name=run-id::evil\n::add-path::/evil\nEOF\nghadelimiter_1\nrun-id<<EOF\nevil\nEOF\n$(touch owned) `touch owned`\n::error::x\n';
    const step = await runStep(
      { prompt: 'say.prompt', 'file-input': 'text=hostile.txt' },
      { 'say.prompt': ECHO, 'hostile.txt': hostile },
    );

    expect(readResponse(step)).toContain(hostile.trimEnd());
    expect(Object.keys(step.outputs)).toEqual(['response', 'response-file', 'json', 'run-id']);
    expect(step.outputs['run-id']).toMatch(/^[0-9a-f-]{36}$/u);
    expect(listCommandsIn(step.log).filter(line => !line.startsWith('::stop-commands::'))).toEqual(
      [],
    );
    expect(step.code).toBe(0);
  });

  it('writes an output of several lines under a delimiter that nobody can guess', () => {
    const value = 'a\nEOF\nrun-id<<EOF\nevil\nEOF\njson=evil\n%0A::x::';
    const output = path.join(createTemporaryDirectory(), 'output');
    const script = `import { setOutput } from './action/runner.mjs';
      for (const name of ['json', 'run-id']) setOutput(name, process.env.VALUE);`;
    const env = { GITHUB_OUTPUT: output, VALUE: value };
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, env });
    const text = readFileSync(output, 'utf8');

    expect(readOutputs(text)).toEqual({ json: value, 'run-id': value });

    const delimiters = [...text.matchAll(/^(?:json|run-id)<<(promptrun-[0-9a-f]{32})$/gmu)].map(
      found => found[1],
    );
    expect(new Set(delimiters).size).toBe(2);
  });

  it('takes inputs as text: no shell, no file, no flag', async () => {
    const step = await runStep(
      { prompt: 'say.prompt', input: 'text=@/etc/passwd "; touch owned; $(touch owned) --json' },
      { 'say.prompt': ECHO },
    );
    expect(readResponse(step)).toContain('@/etc/passwd "; touch owned; $(touch owned) --json');
  });

  it('takes what actions/ai-inference takes: a file of GitHub Models, variables as YAML, its own model first', async () => {
    const files = {
      'Greet_1.prompt.yml':
        'model: echo\nmessages:\n  - role: user\n    content: "Hi {{name}}, {{#if}} {{letter}}"\n',
      'letter.txt': 'a letter',
    };

    const step = await runStep(
      {
        'prompt-file': 'Greet_1.prompt.yml',
        input: 'name: "Ada: @x"\nunknown: |\n  a\n  b\n',
        file_input: 'letter: letter.txt',
        model: 'openai/gpt-4o',
        token: 'a-token',
        provider: 'github-models',
        'response-file': 'answer.txt',
      },
      files,
    );
    expect(step.outputs['response'], step.log).toContain('Hi Ada: @x, {{#if}} a letter');
    expect(step.code, step.log).toBe(0);
    expect(readFileSync(path.join(step.home, 'answer.txt'), 'utf8')).toBe(step.outputs['response']);

    const warnings = listCommandsIn(step.log).filter(line => line.startsWith('::warning'));
    expect(warnings.join('\n')).toMatch(
      /unknown.*no such placeholder[\s\S]*provider[\s\S]*token is ignored/u,
    );
  });

  it('takes a prompt in words as text, not as a target or a template, with the system prompt before it', async () => {
    const words = { prompt: 'hello {{name}}', model: 'echo', 'system-prompt': 'Be {{kind}}' };
    const step = await runStep(words);

    expect(step.log.includes('::error'), step.log).toBe(false);
    expect(step.code, step.log).toBe(0);
    expect(step.outputs['response']).toContain('hello {{name}}');

    const missing = await runStep({ prompt: 'gone.prompt' });
    expect(missing.log).toContain("The input prompt names a file that isn't there: gone.prompt");

    const missingFile = await runStep({ 'prompt-file': 'gone.prompt' });
    expect(missingFile.log).toContain(
      "The input prompt-file names a file that isn't there: gone.prompt",
    );
    expect(missing.code).toBe(EXIT.usage);
  });

  it('runs prompt files of other tools, but takes a bare name of Markdown or text as words', async () => {
    const files = {
      'review.md': '$ARGUMENTS, reviewed',
      'ask.yaml': 'messages: [{role: user, content: "Ask {{who}}"}]',
    };
    const run = async (prompt: string, input = '') => {
      const step = await runStep({ prompt, input, model: 'echo' }, files);
      expect(step.code, step.log).toBe(0);
      return step.outputs['response'];
    };

    expect(await run('./review.md', 'arguments=Code')).toBe('Code, reviewed');
    expect(await run('ask.yaml', 'who=Ada')).toBe('Ask Ada');
    expect(await run('review.md')).toContain('review.md');
    expect(await run('./gone.md')).toContain('./gone.md');
  });

  it('sends the token to the endpoint, and asks for the model under the name that it has there', async () => {
    const calls: { key: string | undefined; body: { model: string } }[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => {
        calls.push({
          key: request.headers.authorization,
          body: JSON.parse(body) as { model: string },
        });
        const message = { role: 'assistant', content: 'Hi' };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message }] }));
      });
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const step = await runStep({
      prompt: 'Say hi',
      model: 'meta/llama',
      endpoint,
      token: 'a-token',
    });

    expect(step.outputs['response'], step.log).toBe('Hi');
    expect(calls.map(({ key, body }) => [key, body.model])).toEqual([
      ['Bearer a-token', 'meta/llama'],
    ]);
  });

  it('fails with the exit code of the command, and says why in one annotation', async () => {
    const step = await runStep({ prompt: '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55' });
    expect(step.code).toBe(EXIT.notFound);
    expect(listCommandsIn(step.log).filter(line => line.startsWith('::error'))).toEqual([
      expect.stringMatching(/^::error title=promptrun::.*0b0c8f0e/u),
    ]);
  });

  it('names the line of an input that it cannot read, without quoting it', async () => {
    const step = await runStep({ ...HELLO, input: 'name=Ada\nsecret' }, FILES);
    expect(step.log).toBe('::error title=promptrun::Line 2 of the input input is not key=value\n');
    expect(step.code).toBe(EXIT.usage);
  });

  it('runs the tests of prompts, with their report in the log', async () => {
    const files = {
      'say.prompt': ECHO,
      'say.test.yaml':
        'cases:\n  - name: says no\n    inputs: { text: yes }\n    expect: [contains: no]\n',
    };
    const step = await runStep({ test: '.' }, files);
    expect(step.code).toBe(EXIT.runFailed);
    expect(step.log).toMatch(/^::error .*file=say\.test\.yaml,line=4,/mu);
  });

  it('installs the package of its own version, or of the requested one, if nothing is built', async () => {
    const runner = createUnbuiltEnv(FAKE_NPM);
    const files = { '.npmrc': 'registry=http://evil.example.com\n', 'package.json': '{}' };
    const keys = {
      PROMPTRUN_API_KEY: 'a-secret',
      OUR_OPENAI_KEY: 'a-secret',
      npm_config_registry: 'http://evil.example.com',
    };
    const defaultVersion = await runStep({ test: 'a b\n--c', 'api-key': 'a-key' }, files, {
      ...runner,
      ...keys,
    });

    expect(defaultVersion.log).toBe('::add-mask::a-key\ntest\n--\na b\n--c\n');

    const [cwd = '', ...npm] = readFileSync(
      path.join(defaultVersion.home, 'runner', 'npm.log'),
      'utf8',
    ).split('\n');
    expect(cwd).toContain(path.join(defaultVersion.home, 'runner', 'promptrun-'));
    expect(npm).toContain(`promptrun@${packageJson.version}`);
    expect(npm).toContain('--ignore-scripts');
    expect(npm.filter(line => /registry/iu.test(line))).toEqual([]);
    expect(npm.join('\n')).not.toMatch(/evil|a-secret|a-key|^PROMPTRUN_/mu);

    const requested = { test: '.', version: '0.3.1', registry: 'http://127.0.0.1:4873' };
    const otherVersion = await runStep(requested, {}, runner);

    expect(readFileSync(path.join(otherVersion.home, 'runner', 'npm.log'), 'utf8')).toMatch(
      /--registry=http:\/\/127\.0\.0\.1:4873\/\n[\s\S]*promptrun@0\.3\.1\n/u,
    );
  });

  it.each([
    {
      name: 'a version with a flag behind it',
      inputs: { version: '1 --call=touch' },
      message: 'The input version is not a version of promptrun',
    },
    {
      name: 'a registry without TLS',
      inputs: { registry: 'http://npm.example.com', version: '1.0.0' },
      message: 'The input registry must be an https URL',
    },
  ])('refuses $name', async ({ inputs, message }) => {
    const { code, log } = await runStep({ test: '.', ...inputs }, {}, createUnbuiltEnv(FAKE_NPM));
    expect(log).toBe(`::error title=promptrun::${message}\n`);
    expect(code).toBe(EXIT.usage);
  });

  it('says why the package could not be installed', async () => {
    const step = await runStep(
      { test: '.' },
      {},
      createUnbuiltEnv('echo "npm error 404" >&2; exit 1'),
    );
    expect(step.log).toMatch(/could not be installed: npm error 404\n$/u);
    expect(step.code).toBe(EXIT.usage);
  });

  it('records runs, and replays them without the service', async () => {
    const first = await runStep({ ...HELLO, record: 'recordings' }, FILES);
    const recordings = path.join(first.home, 'recordings');
    const again = await runStep({ ...HELLO, replay: recordings }, FILES);
    expect(readResponse(again)).toBe(readResponse(first));
    expect(again.code).toBe(0);
    const other = await runStep({ ...HELLO, input: 'name=Grace', replay: recordings }, FILES);
    expect(other.code).toBe(EXIT.usage);
  });

  it('masks the key before anything else', async () => {
    const step = await runStep({ 'api-key': 'a-key' });
    expect(step.log).toBe(
      '::add-mask::a-key\n::error title=promptrun::Give a prompt to run, or tests with the input test\n',
    );
  });
});

describe('the template for GitLab', () => {
  it('runs the tests on recordings, and keeps their JUnit report', () => {
    const { prompts } = parse(readFileSync(path.join(root, 'docs', 'gitlab.yml'), 'utf8')) as {
      readonly prompts: { readonly script: readonly string[]; readonly artifacts: unknown };
    };
    expect(prompts.script).toEqual([
      'npx --yes promptrun test $PROMPTS --replay recordings --reporter junit --out junit.xml',
    ]);
    expect(prompts.artifacts).toEqual({ when: 'always', reports: { junit: 'junit.xml' } });
  });

  it('is linked from the README', () => {
    const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
    expect(readme).toContain('docs/gitlab.yml');
  });
});
