import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EngineResult } from '../../../src/models/engine.ts';
import { createProgramEngine } from '../../../src/models/programs/program-engine.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { png } from '../../support/png.ts';
import { isPosix } from '../../support/system.ts';
import { createJob, type JobOptions } from '../job.ts';
import { parseDeclaredModel } from './parse-declared-model.ts';

/** The folder of models.yaml. */
let folder: string;
let dataDir: string;

/** The working directory. */
let directory: string;

beforeEach(() => {
  folder = createTemporaryDirectory();
  dataDir = path.join(folder, 'data');
  directory = path.join(folder, 'work');
  mkdirSync(dataDir);
  mkdirSync(directory);
});

/** Returns the command of a script that Node runs with these arguments. */
function nodeProgram(script: string, ...args: string[]): string[] {
  return [process.execPath, '-e', script, '--', ...args];
}

/** Runs a model that is declared by this entry. */
function run(
  entry: object,
  job: JobOptions = {},
  env: Record<string, string> = {},
): Promise<EngineResult> {
  const engine = createProgramEngine({
    env: { PATH: process.env['PATH'], ...env },
    dataDir,
    directory,
  });
  return engine.run(
    createJob({ template: 'Hello', ...job, model: parseDeclaredModel(entry, folder) }),
  );
}

/** Expects a run that succeeds, and returns its text. */
async function expectText(...args: Parameters<typeof run>): Promise<string> {
  const { outputs, hasFailed } = await run(...args);
  expect({ outputs, hasFailed }).toMatchObject({ outputs: [{ type: 'text' }], hasFailed: false });
  const [output] = outputs;
  return output?.type === 'text' ? output.text : '';
}

/** Expects a run that fails, and returns the message of its error. */
async function expectError(...args: Parameters<typeof run>): Promise<string> {
  const { outputs, hasFailed } = await run(...args);
  expect(hasFailed).toBe(true);
  const output = outputs.at(-1);
  return output?.type === 'error' ? output.message : '';
}

/** Prints its standard input. */
const ECHO = 'process.stdin.pipe(process.stdout)';

/** Prints its arguments as JSON; exits with 9 if it is sent anything on standard input. */
const PRINT_ARGUMENTS =
  'process.stdin.resume().on("data", d => process.exit(9)); console.log(JSON.stringify(process.argv.slice(1)))';

/** A template of four messages. */
const CHAT_TEMPLATE =
  '{{role "system"}}Be brief.\n{{role "user"}}Hi\n{{role "model"}}Yes?\n{{role "user"}}Bye';

describe('a program', () => {
  it('gets the prompt on standard input', async () => {
    expect(await expectText({ program: nodeProgram(ECHO) }, { template: CHAT_TEMPLATE })).toBe(
      'Be brief.\n\nHi\n\nYes?\n\nBye',
    );
  });

  it('answers by its standard output, without its last line break', async () => {
    expect(await expectText({ program: nodeProgram('console.log("a\\n")') })).toBe('a\n');
  });

  it.each(['--flag', '; rm -rf /', '$(id)', '"quoted" \\ back', '${model}', 'two\nlines', '*', ''])(
    'gets an input unchanged, in one argument: %j',
    async value => {
      const entry = {
        program: nodeProgram(
          PRINT_ARGUMENTS,
          '-x=${input.q}',
          '${input.q}',
          '${prompt}',
          '${model}',
          '${here}',
        ),
      };
      const inputs = { texts: { q: value }, values: { q: value } };
      const text = await expectText(entry, { inputs });
      expect(JSON.parse(text)).toEqual([`-x=${value}`, value, 'Hello', 'declared-model', folder]);
    },
  );

  it('can get the messages of a prompt in separate arguments, and an empty one for a missing input', async () => {
    const entry = {
      program: nodeProgram(
        PRINT_ARGUMENTS,
        '${system}',
        '${prompt}',
        '${messages}',
        '${input.none}',
      ),
    };
    const [system, prompt, messages, none] = JSON.parse(
      await expectText(entry, { template: CHAT_TEMPLATE }),
    ) as string[];
    expect([system, prompt, none]).toEqual(['Be brief.\n', 'Hi\n\nYes?\n\nBye', '']);
    expect(JSON.parse(messages ?? '')).toEqual([
      { role: 'system', content: [{ text: 'Be brief.\n' }] },
      { role: 'user', content: [{ text: 'Hi\n' }] },
      { role: 'model', content: [{ text: 'Yes?\n' }] },
      { role: 'user', content: [{ text: 'Bye' }] },
    ]);
  });

  it('has the environment but for PROMPTRUN_*, and a file about its run while it runs', async () => {
    const script =
      'const {PROMPTRUN_RUN: factsFile, ...variables} = process.env; console.log(JSON.stringify({variables, facts: fs.readFileSync(factsFile, "utf8"), factsFile}))';
    const env = { MY_KEY: 'secret', PROMPTRUN_API_KEY: 'ours', TRACEPARENT: '00-1-2-01' };
    const inputs = { texts: { q: '1' }, values: { q: 1 } };
    const job = { inputs, runOptions: { temperature: 0 } };
    const { variables, facts, factsFile } = JSON.parse(
      await expectText({ program: nodeProgram(script) }, job, env),
    ) as { variables: object; facts: string; factsFile: string };

    expect(variables).toMatchObject({ MY_KEY: 'secret', TRACEPARENT: '00-1-2-01' });
    expect(variables).not.toHaveProperty('PROMPTRUN_API_KEY');

    expect(JSON.parse(facts)).toEqual({
      runId: '11111111-1111-4111-8111-111111111111',
      model: 'declared-model',
      inputs: { q: '1' },
      options: { temperature: 0 },
    });
    expect(existsSync(path.dirname(factsFile))).toBe(false);
    expect(readdirSync(path.join(dataDir, 'programs'))).toEqual([]);
  });

  describe('that prints where it is and what is there', () => {
    const script =
      'fs.writeFileSync("made", ""); console.log(JSON.stringify({cwd: process.cwd(), fileNames: fs.readdirSync(".")}))';

    async function runInFolder(entry: object): Promise<{ cwd: string; fileNames: string[] }> {
      return JSON.parse(await expectText({ program: nodeProgram(script), ...entry })) as {
        cwd: string;
        fileNames: string[];
      };
    }

    it('starts in the working directory', async () => {
      const { cwd, fileNames } = await runInFolder({});
      expect(realpathSync(cwd)).toBe(realpathSync(directory));
      expect(fileNames).toEqual(['made']);
      expect(existsSync(path.join(directory, 'made'))).toBe(true);
    });

    it('starts in an empty folder, which is removed afterwards, if its folder is temporary', async () => {
      const { cwd, fileNames } = await runInFolder({ folder: 'temporary' });
      expect(fileNames).toEqual(['made']);
      expect(existsSync(cwd)).toBe(false);
    });
  });

  describe('for a prompt with images', () => {
    const image = png(2, 2);
    const job = { template: '{{media url=a}}{{media url=b}}', images: [image, image] };

    it('gets each image as the path of a file', async () => {
      const script =
        'console.log(JSON.stringify(process.argv.slice(1).map(a => a.slice(2)).map(file => ({file, byteCount: fs.readFileSync(file).length}))))';
      const program = nodeProgram(script, '-i${images}');
      const files = JSON.parse(await expectText({ program }, job)) as {
        file: string;
        byteCount: number;
      }[];

      expect(files.map(({ byteCount }) => byteCount)).toEqual([image.length, image.length]);
      expect(files.map(({ file }) => path.basename(file))).toEqual(['1.png', '2.png']);
    });

    it('is not started if none of its arguments takes them', async () => {
      expect(await run({ program: nodeProgram(ECHO) }, job)).toMatchObject({
        hasFailed: true,
        isRefused: true,
        fault: 'unfit',
      });
    });
  });

  it('fails with its exit code and the first 2000 characters of its standard error', async () => {
    const script = 'console.error("x".repeat(5000)); console.log("nothing"); process.exitCode = 3';
    const message = await expectError({ program: nodeProgram(script) });
    expect(message).toBe(`declared-model ended with exit code 3: ${'x'.repeat(2000)}`);
  });

  it.each([
    {
      what: 'the reason in its output',
      stdout: '{"result": "Invalid API key", "is_error": true}',
      stderr: '',
      entry: { output: 'result' },
      reason: 'Invalid API key',
    },
    {
      what: 'what it wrote to standard error and the reason in its output',
      stdout: '{"result": "Invalid API key", "is_error": true}',
      stderr: 'warned\n',
      entry: { output: 'result' },
      reason: 'warned; Invalid API key',
    },
    {
      what: 'the beginning of its text if standard error is empty',
      stdout: `no ${'x'.repeat(400)}`,
      stderr: '',
      entry: {},
      reason: `no ${'x'.repeat(296)}…`,
    },
    {
      what: 'standard error alone if its output is a text',
      stdout: 'half an answer',
      stderr: 'warned',
      entry: {},
      reason: 'warned',
    },
  ])('fails with $what', async ({ stdout, stderr, entry, reason }) => {
    const program = nodeProgram(
      `process.stdout.write(${JSON.stringify(stdout)}); process.stderr.write(${JSON.stringify(stderr)}); process.exitCode = 1`,
    );
    expect(await expectError({ program, ...entry })).toBe(
      `declared-model ended with exit code 1: ${reason}`,
    );
  });

  it('fails without the keys that it has', async () => {
    const script =
      'console.error(process.env.MY_API_KEY, process.env.MY_MODE, "sk-ab12cd34ef"); process.exitCode = 1';
    const env = { MY_API_KEY: 'key-of-mine-0123', MY_MODE: 'mode-of-mine-0123' };
    expect(await expectError({ program: nodeProgram(script) }, {}, env)).toBe(
      'declared-model ended with exit code 1: *** mode-of-mine-0123 ***',
    );
  });

  describe('that starts another', () => {
    /** Starts a child that never ends, and writes its id to a file. */
    function startChild(pidFile: string): string {
      return `const child = child_process.spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {detached: true, stdio: "inherit"}); fs.writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));`;
    }

    let pidFile: string;

    beforeEach(() => {
      pidFile = path.join(folder, 'pid');
    });

    it('is ended with it after its timeout', async () => {
      const program = nodeProgram(`${startChild(pidFile)} setInterval(() => {}, 1000)`);
      const message = await expectError({ program, timeout: '2s' });
      expect(message).toBe('declared-model took longer than 2 s');
      await waitUntilGone(pidFile);
    });

    it('is ended with it if it prints too much', async () => {
      const program = nodeProgram(
        `${startChild(pidFile)} setInterval(() => process.stdout.write("x".repeat(1e6)), 1)`,
      );
      expect(await expectError({ program })).toBe('declared-model printed more than 8 MiB');
      await waitUntilGone(pidFile);
    });

    it('has it ended when it has answered', async () => {
      const program = nodeProgram(
        `${startChild(pidFile)} child.unref(); console.log("done"); process.exit()`,
      );
      expect(await expectText({ program })).toBe('done');
      await waitUntilGone(pidFile);
    });
  });

  it('is ended if its run is cancelled', async () => {
    const cancellation = new AbortController();
    const pidFile = path.join(folder, 'pid');
    const script = `fs.writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`;
    const running = run({ program: nodeProgram(script) }, { signal: cancellation.signal });

    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/\d/);

    cancellation.abort(new Error('no more'));
    await expect(running).rejects.toThrow('no more');

    await waitUntilGone(pidFile);
    expect(readdirSync(path.join(dataDir, 'programs'))).toEqual([]);
  });

  it("fails the run, which cost nothing, if it doesn't exist", async () => {
    expect(await run({ program: ['no-such-program'] })).toMatchObject({
      hasFailed: true,
      isRefused: true,
      fault: 'not-started',
    });
  });

  it.runIf(isPosix)('is never one of the same name in the working directory', async () => {
    writeFileSync(path.join(directory, 'cat'), '#!/bin/sh\necho mine', { mode: 0o755 });
    expect(await expectText({ program: ['cat'] })).toBe('Hello');
  });

  it('is not started if the record of what runs cannot be written', async () => {
    writeFileSync(path.join(dataDir, 'programs'), 'a file where a folder should be');
    expect(await run({ program: nodeProgram(ECHO) })).toMatchObject({
      isRefused: true,
      fault: 'not-started',
    });
  });

  it.skipIf(process.platform === 'win32')(
    'is not started with a prompt that no argument can hold',
    async () => {
      const tooLong = 'x'.repeat(3_000_000);
      const job = { inputs: { texts: { q: tooLong }, values: { q: tooLong } } };
      expect(await run({ program: nodeProgram(PRINT_ARGUMENTS, '${input.q}') }, job)).toMatchObject(
        {
          outputs: [
            {
              message: expect.stringContaining(
                'too long for an argument: leave ${prompt} out',
              ) as string,
            },
          ],
          fault: 'not-started',
        },
      );
    },
  );
});

describe('the answer of a program', () => {
  const printProgram = (text: string): string[] =>
    nodeProgram(`process.stdout.write(${JSON.stringify(text)})`);

  const jmesPaths = {
    output: 'result',
    cost: 'cost',
    tokens: { input: 'usage.in', output: 'usage.out' },
  };

  it('is read by JMESPath, with its cost and its tokens', async () => {
    const answer = '{"result": "Hi", "cost": 0.25, "usage": {"in": 10, "out": 3}}';
    expect(await run({ program: printProgram(answer), ...jmesPaths })).toEqual({
      outputs: [{ type: 'text', text: 'Hi' }],
      tokens: 13,
      usage: { input: 10, output: 3, cached: 0 },
      dollars: 0.25,
      hasFailed: false,
    });
  });

  it('may lack its cost and its tokens', async () => {
    const result = await run({ program: printProgram('{"result": "Hi"}'), ...jmesPaths });
    expect(result).toMatchObject({ outputs: [{ type: 'text', text: 'Hi' }], hasFailed: false });
    expect(result).not.toHaveProperty('dollars');
    expect(result).not.toHaveProperty('usage');
  });

  describe('of a JSON value on each line is a list', () => {
    const lines = '{"type":"start"}\n{"type":"text","text":"one"}\n\n{"type":"end","text":"two"}\n';

    it.each([
      { what: 'of which one is chosen', output: "[?type=='end'].text | [0]", text: 'two' },
      { what: 'whose values are an answer of JSON', output: '[].text', text: '["one","two"]' },
    ])('$what', async ({ output, text }) => {
      expect(await expectText({ program: printProgram(lines), output })).toBe(text);
    });

    it('even after a byte order mark', async () => {
      const program = printProgram(`\uFEFF${lines}`);
      expect(await expectText({ program, output: '[1].text' })).toBe('one');
    });
  });

  it('is a failed run if it lacks the output', async () => {
    const program = printProgram('{"error": "no"}');
    expect(await expectError({ program, output: 'result' })).toBe(
      'declared-model returned an answer that can\'t be read: it has no `result`; it begins with {"error": "no"}',
    );
  });

  it('is a failed run if it is not JSON and the output is a field of it', async () => {
    expect(await expectError({ program: printProgram('Oops'), output: 'result' })).toContain(
      'it is not JSON; it begins with Oops',
    );
  });

  it('may be text though its cost would be a field of JSON', async () => {
    expect(await expectText({ program: printProgram('Oops'), cost: 'cost' })).toBe('Oops');
  });

  it('has the cost of a run that fails', async () => {
    const script = 'console.log(JSON.stringify({cost: 0.5})); process.exitCode = 1';
    expect(await run({ program: nodeProgram(script), cost: 'cost' })).toMatchObject({
      hasFailed: true,
      dollars: 0.5,
    });
  });

  it('is requested as JSON by words in the prompt if it must match a schema', async () => {
    const schema = { type: 'object' };
    const text = await expectText({ program: nodeProgram(ECHO) }, { json: { schema } });
    expect(text).toBe(
      'Hello\n\nAnswer with JSON that matches this JSON Schema, and with nothing else:\n{"type":"object"}',
    );
  });
});

/**
 * Resolves once the process is gone: one that was killed ends when it is next given a processor.
 */
async function waitUntilGone(pidFile: string): Promise<void> {
  await expect.poll(() => isRunning(pidFile)).toBe(false);
}

/**
 * Returns true if the process of that file runs; on a busy machine its parent may have been ended
 * before it started it.
 */
function isRunning(pidFile: string): boolean {
  if (!existsSync(pidFile)) return false;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  try {
    process.kill(pid, 0);
    // One that has ended and that nobody has asked about yet has no command line.
    return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}
