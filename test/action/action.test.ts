import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../support/context.ts';
import { commandEnvironment } from '../support/environment.ts';

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

/** Runs the step of action.yml as a runner would: its inputs in the variables it names, its outputs in a file. */
async function runStep(
  inputs: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
  added: Readonly<Record<string, string>> = {},
): Promise<Step> {
  const home = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  const output = path.join(home, 'output');
  writeFileSync(output, '');
  mkdirSync(path.join(home, 'runner'));
  const [step] = ACTION.runs.steps;
  const given = Object.entries(step?.env ?? {}).map(([variable, expression]) => {
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
    env: commandEnvironment(home, { ...Object.fromEntries(given), ...runner, ...added }),
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

/** The lines of a log that the runner takes for commands. */
function commandsIn(log: string): string[] {
  const commands: string[] = [];
  let stopped: string | undefined;
  for (const line of log.split('\n')) {
    if (stopped === undefined && line.trimStart().startsWith('::')) commands.push(line);
    stopped ??= /^::stop-commands::(.+)$/u.exec(line)?.[1];
    if (line === `::${stopped}::`) stopped = undefined;
  }
  return commands;
}

/** What a runner has of a checkout that is not built, where `npx` is a shell script. */
function notBuilt(npx: string): Record<string, string> {
  const checkout = temporaryDirectory();
  cpSync(path.join(root, 'action'), path.join(checkout, 'action'), { recursive: true });
  cpSync(path.join(root, 'package.json'), path.join(checkout, 'package.json'));
  const bin = temporaryDirectory();
  writeFileSync(path.join(bin, 'npx'), `#!/bin/sh\n${npx}\n`, { mode: 0o755 });
  return { GITHUB_ACTION_PATH: checkout, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
}

const responseOf = ({ outputs }: Step): string => readFileSync(outputs['response-file'] ?? '', 'utf8');
const ECHO = '---\nmodel: echo\n---\n{{text}}';

describe('the action', () => {
  it('declares what its step reads and gives', () => {
    const used = Object.values(ACTION.runs.steps[0]?.env ?? {}).join();
    for (const name of Object.keys(ACTION.inputs)) expect(used).toContain(`inputs.${name} `);
    expect(Object.keys(ACTION.outputs)).toEqual(['response-file', 'json', 'run-id']);
    // An expression in the text of a step would be a way into its shell.
    expect(ACTION.runs.steps[0]?.run).not.toContain('${{');
  });

  it('runs a prompt and gives its answer, its JSON and its id', async () => {
    const step = await runStep({ prompt: 'hello', input: 'name=Ada' });
    expect([step.code, step.log.includes('::error')]).toEqual([0, false]);
    expect(responseOf(step)).toContain('Ada');
    expect(JSON.parse(step.outputs['json'] ?? '')).toMatchObject({ runId: step.outputs['run-id'] });
  });

  it('hands over a hostile answer intact, and nothing of it runs', async () => {
    const hostile =
      '::set-output name=run-id::evil\n::add-path::/evil\nEOF\nghadelimiter_1\nrun-id<<EOF\nevil\nEOF\n$(touch owned) `touch owned`\n::error::x\n';
    const step = await runStep(
      { prompt: 'say.prompt', 'file-input': 'text=hostile.txt' },
      { 'say.prompt': ECHO, 'hostile.txt': hostile },
    );
    expect(responseOf(step)).toContain(hostile.trimEnd());
    expect(Object.keys(step.outputs)).toEqual(['response-file', 'json', 'run-id']);
    expect(step.outputs['run-id']).toMatch(/^[0-9a-f-]{36}$/u);
    expect(commandsIn(step.log).filter(line => !line.startsWith('::stop-commands::'))).toEqual([]);
    expect(step.code).toBe(0);
  });

  it('writes an output of several lines so that it can not end itself, nor be guessed', () => {
    const value = 'a\nEOF\nrun-id<<EOF\nevil\nEOF\njson=evil\n%0A::x::';
    const output = path.join(temporaryDirectory(), 'output');
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
    expect(responseOf(step)).toContain('@/etc/passwd "; touch owned; $(touch owned) --json');
  });

  it('converts a prompt of GitHub Models and says so', async () => {
    const source =
      'model: echo\nmessages:\n  - role: user\n    content: "Hi {{name}}, {{#if}}"\nevaluators: []\n';
    const step = await runStep(
      { prompt: 'Greet_1.prompt.yml', input: 'name=Ada' },
      { 'Greet_1.prompt.yml': source },
    );
    expect(step.log).toMatch(
      /note: converted Greet_1\.prompt\.yml to \S+greet-1\.prompt\nnote: without evaluators/u,
    );
    expect(responseOf(step)).toContain('Hi Ada, {{#if}}');
  });

  it('fails with the exit code of the command, and says why in one annotation', async () => {
    const step = await runStep({ prompt: 'nowhere' });
    expect(step.code).toBe(4);
    expect(commandsIn(step.log).filter(line => line.startsWith('::error'))).toEqual([
      expect.stringMatching(/^::error title=promptrun::.*nowhere/u),
    ]);
  });

  it('says which line of an input it can not read, without the line', async () => {
    const step = await runStep({ prompt: 'hello', input: 'name=Ada\nsecret' });
    expect([step.code, step.log]).toEqual([
      2,
      '::error title=promptrun::Line 2 of the input input is not key=value\n',
    ]);
  });

  it('runs the tests of prompts, with their report in the log', async () => {
    const files = {
      'say.prompt': ECHO,
      'say.test.yaml': 'cases:\n  - name: says no\n    inputs: { text: yes }\n    expect: [contains: no]\n',
    };
    const step = await runStep({ test: '.' }, files);
    expect(step.code).toBe(5);
    expect(step.log).toMatch(/^::error .*file=say\.test\.yaml,line=4,/mu);
  });

  it('starts the package of its own version, or of the one asked for, where nothing is built', async () => {
    const runner = notBuilt('printf "%s\\n" "$@"');
    const own = await runStep({ test: 'a b\n--c' }, {}, runner);
    expect(own.log).toBe(`--yes\npromptrun@${packageJson.version}\ntest\n--\na b\n--c\n`);
    const other = await runStep({ test: '.', version: '0.3.1' }, {}, runner);
    expect(other.log).toContain('\npromptrun@0.3.1\n');
    const hostile = await runStep({ test: '.', version: '1 --call=touch' }, {}, runner);
    expect([hostile.code, hostile.log]).toEqual([
      2,
      '::error title=promptrun::The input version is not a version of promptrun\n',
    ]);
  });

  it('says what the package said before it could begin', async () => {
    const runner = notBuilt('echo "npm warn: EBADENGINE" >&2; echo "error: needs a newer Node" >&2; exit 1');
    const step = await runStep({ prompt: 'hello' }, {}, runner);
    expect([step.code, step.log]).toEqual([
      1,
      expect.stringMatching(/\n::error title=promptrun::needs a newer Node\n$/u),
    ]);
  });

  it('records runs, and gives them again without the service', async () => {
    const first = await runStep({ prompt: 'hello', input: 'name=Ada', record: 'recordings' });
    const recordings = path.join(first.home, 'recordings');
    const again = await runStep({ prompt: 'hello', input: 'name=Ada', replay: recordings });
    expect([again.code, responseOf(again)]).toEqual([0, responseOf(first)]);
    const other = await runStep({ prompt: 'hello', input: 'name=Grace', replay: recordings });
    expect(other.code).toBe(2);
  });

  it('masks the key before anything else', async () => {
    const step = await runStep({ 'api-key': 'a-key' });
    expect(step.log).toBe(
      '::add-mask::a-key\n::error title=promptrun::Give a prompt to run, or tests with the input test\n',
    );
  });
});

describe('the template for GitLab', () => {
  it('is YAML, with a job whose command is one that there is', () => {
    const { prompts } = parse(readFileSync(path.join(root, 'docs', 'gitlab.yml'), 'utf8')) as {
      readonly prompts: { readonly script: readonly string[]; readonly artifacts: unknown };
    };
    expect(prompts.script).toEqual([
      'npx --yes promptrun test $PROMPTS --replay recordings --reporter junit --out junit.xml',
    ]);
    expect(prompts.artifacts).toEqual({ when: 'always', reports: { junit: 'junit.xml' } });
  });

  it('is what the README shows', () => {
    const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
    expect(readme).toContain('docs/gitlab.yml');
  });
});
