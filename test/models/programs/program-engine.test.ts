import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
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

let folder: string;
let dataDir: string;
let directory: string;

beforeEach(() => {
  folder = createTemporaryDirectory();
  [dataDir, directory] = [path.join(folder, 'data'), path.join(folder, 'work')];
  for (const one of [dataDir, directory]) mkdirSync(one);
});

/** Returns a program of Node's that is given its arguments after `--`. */
function node(script: string, ...args: string[]): string[] {
  return [process.execPath, '-e', script, '--', ...args];
}

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

async function runForText(...args: Parameters<typeof run>): Promise<string> {
  const { outputs, hasFailed } = await run(...args);
  expect({ outputs, hasFailed }).toMatchObject({ outputs: [{ type: 'text' }], hasFailed: false });
  const [output] = outputs;
  return output?.type === 'text' ? output.text : '';
}

async function runForError(...args: Parameters<typeof run>): Promise<string> {
  const { outputs, hasFailed } = await run(...args);
  expect(hasFailed).toBe(true);
  const output = outputs.at(-1);
  return output?.type === 'error' ? output.message : '';
}

const ECHO = 'process.stdin.pipe(process.stdout)';

const ARGUMENTS =
  'process.stdin.resume().on("data", d => process.exit(9)); console.log(JSON.stringify(process.argv.slice(1)))';

const CHAT =
  '{{role "system"}}Be brief.\n{{role "user"}}Hi\n{{role "model"}}Yes?\n{{role "user"}}Bye';

describe('a program', () => {
  it('gets the prompt on standard input, and its standard output is the answer without one line break', async () => {
    expect(await runForText({ program: node(ECHO) }, { template: CHAT })).toBe(
      'Be brief.\n\nHi\n\nYes?\n\nBye',
    );
    expect(await runForText({ program: node('console.log("a\\n")') })).toBe('a\n');
  });

  it.each(['--flag', '; rm -rf /', '$(id)', '"quoted" \\ back', '${model}', 'two\nlines', '*', ''])(
    'gets what an input says whole, in one argument: %j',
    async value => {
      const entry = {
        program: node(ARGUMENTS, '-x=${input.q}', '${input.q}', '${prompt}', '${model}', '${here}'),
      };
      const inputs = { texts: { q: value }, values: { q: value } };
      const text = await runForText(entry, { inputs });
      expect(JSON.parse(text)).toEqual([`-x=${value}`, value, 'Hello', 'declared-model', folder]);
    },
  );

  it('gets the parts of a prompt apart', async () => {
    const entry = {
      program: node(ARGUMENTS, '${system}', '${prompt}', '${messages}', '${input.none}'),
    };
    const [system, prompt, messages, none] = JSON.parse(
      await runForText(entry, { template: CHAT }),
    ) as string[];
    expect([system, prompt, none]).toEqual(['Be brief.\n', 'Hi\n\nYes?\n\nBye', '']);
    expect(JSON.parse(messages ?? '')).toEqual([
      { role: 'system', content: [{ text: 'Be brief.\n' }] },
      { role: 'user', content: [{ text: 'Hi\n' }] },
      { role: 'model', content: [{ text: 'Yes?\n' }] },
      { role: 'user', content: [{ text: 'Bye' }] },
    ]);
  });

  it('has the environment without PROMPTRUN_*, and a file about the run', async () => {
    const script =
      'const {PROMPTRUN_RUN: f, ...e} = process.env; console.log(JSON.stringify([e, fs.readFileSync(f, "utf8"), f]))';
    const env = { MY_KEY: 'secret', PROMPTRUN_API_KEY: 'ours', TRACEPARENT: '00-1-2-01' };
    const job = { inputs: { texts: { q: '1' }, values: { q: 1 } }, runOptions: { temperature: 0 } };
    const [variables, about, file] = JSON.parse(
      await runForText({ program: node(script) }, job, env),
    ) as [object, string, string];

    expect(variables).toMatchObject({ MY_KEY: 'secret', TRACEPARENT: '00-1-2-01' });
    expect(variables).not.toHaveProperty('PROMPTRUN_API_KEY');
    expect(JSON.parse(about)).toEqual({
      runId: '11111111-1111-4111-8111-111111111111',
      model: 'declared-model',
      inputs: { q: '1' },
      options: { temperature: 0 },
    });

    expect(existsSync(path.dirname(file))).toBe(false);
    expect(readdirSync(path.join(dataDir, 'programs'))).toEqual([]);
  });

  it('starts in the working directory, or in an empty folder that is removed afterwards', async () => {
    const script =
      'fs.writeFileSync("made", ""); console.log(JSON.stringify([process.cwd(), fs.readdirSync(".")]))';
    const [own, made] = JSON.parse(await runForText({ program: node(script) })) as [
      string,
      string[],
    ];

    expect([realpathSync(own), made]).toEqual([realpathSync(directory), ['made']]);

    const [empty, files] = JSON.parse(
      await runForText({ program: node(script), folder: 'temporary' }),
    ) as [string, string[]];
    expect(files).toEqual(['made']);
    expect(existsSync(empty)).toBe(false);
  });

  it('gets each picture as the path of a file, or refuses pictures', async () => {
    const picture = png(2, 2);
    const script =
      'console.log(JSON.stringify(process.argv.slice(1).map(a => [a, fs.readFileSync(a.slice(2)).length])))';
    const template = '{{media url=a}}{{media url=b}}';
    const job = { template, images: [picture, picture] };
    const shown = JSON.parse(await runForText({ program: node(script, '-i${images}') }, job)) as [
      string,
      number,
    ][];

    expect(shown.map(([, length]) => length)).toEqual([picture.length, picture.length]);
    expect(shown.map(([file]) => path.basename(file))).toEqual(['1.png', '2.png']);

    const refused = await run({ program: node(ECHO) }, job);
    expect(refused).toMatchObject({ hasFailed: true, isRefused: true, fault: 'unfit' });
  });

  it('fails with its exit code and the beginning of its standard error', async () => {
    const script = 'console.error("x".repeat(5000)); console.log("nothing"); process.exitCode = 3';
    const message = await runForError({ program: node(script) });
    expect(message).toMatch(/^declared-model ended with exit code 3: x{2000}$/);
  });

  it('fails with the reason in its output if standard error has none', async () => {
    const fails = (stdout: string, complaint = ''): string[] =>
      node(
        `process.stdout.write(${JSON.stringify(stdout)}); process.stderr.write(${JSON.stringify(complaint)}); process.exitCode = 1`,
      );

    const answer = '{"result": "Invalid API key", "is_error": true}';
    expect(await runForError({ program: fails(answer), output: 'result' })).toBe(
      'declared-model ended with exit code 1: Invalid API key',
    );
    expect(await runForError({ program: fails(answer, 'warned\n'), output: 'result' })).toBe(
      'declared-model ended with exit code 1: warned; Invalid API key',
    );
    expect(await runForError({ program: fails(`no ${'x'.repeat(400)}`) })).toBe(
      `declared-model ended with exit code 1: no ${'x'.repeat(296)}…`,
    );
    expect(await runForError({ program: fails('half an answer', 'warned') })).toBe(
      'declared-model ended with exit code 1: warned',
    );
  });

  it('fails without the keys that it has', async () => {
    const script =
      'console.error(process.env.MY_API_KEY, process.env.MY_MODE, "sk-ab12cd34ef"); process.exitCode = 1';
    const env = { MY_API_KEY: 'key-of-mine-0123', MY_MODE: 'mode-of-mine-0123' };
    expect(await runForError({ program: node(script) }, {}, env)).toBe(
      'declared-model ended with exit code 1: *** mode-of-mine-0123 ***',
    );
  });

  it('fails if it takes too long, or prints too much, and is ended with what it started', async () => {
    const pidFile = path.join(folder, 'pid');
    const parent = `const c = child_process.spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {detached: true, stdio: "inherit"}); fs.writeFileSync(${JSON.stringify(pidFile)}, String(c.pid));`;
    const hangs = await runForError({
      program: node(`${parent} setInterval(() => {}, 1000)`),
      timeout: '2s',
    });

    expect(hangs).toBe('declared-model took longer than 2 s');

    await waitUntilGone(pidFile);
    const prints = await runForError({
      program: node(`${parent} setInterval(() => process.stdout.write("x".repeat(1e6)), 1)`),
    });

    expect(prints).toBe('declared-model printed more than 8 MiB');

    await waitUntilGone(pidFile);
    expect(
      await runForText({
        program: node(`${parent} c.unref(); console.log("done"); process.exit()`),
      }),
    ).toBe('done');

    await waitUntilGone(pidFile);
  });

  it('is ended if its run is', async () => {
    const stop = new AbortController();
    const ready = path.join(folder, 'ready');
    const script = `fs.writeFileSync(${JSON.stringify(ready)}, String(process.pid)); setInterval(() => {}, 1000)`;
    const running = run({ program: node(script) }, { signal: stop.signal });

    await expect.poll(() => existsSync(ready) && readFileSync(ready, 'utf8')).toMatch(/\d/);

    stop.abort(new Error('no more'));
    await expect(running).rejects.toThrow('no more');

    await waitUntilGone(ready);
    expect(readdirSync(path.join(dataDir, 'programs'))).toEqual([]);
  });

  it.runIf(isPosix)("that can't be started is reported, and costs nothing", async () => {
    const gone = await run({ program: ['no-such-program'] });
    expect(gone).toMatchObject({ hasFailed: true, isRefused: true, fault: 'not-started' });

    writeFileSync(path.join(directory, 'cat'), '#!/bin/sh\necho mine', { mode: 0o755 });
    expect(await runForText({ program: ['cat'] })).toBe('Hello');

    rmSync(path.join(dataDir, 'programs'), { recursive: true });
    writeFileSync(path.join(dataDir, 'programs'), '');

    expect(await run({ program: ['cat'] })).toMatchObject({
      isRefused: true,
      fault: 'not-started',
    });
  });

  it.skipIf(process.platform === 'win32')(
    'is not started with a prompt that no argument can hold',
    async () => {
      const long = 'x'.repeat(3_000_000);
      const job = { inputs: { texts: { q: long }, values: { q: long } } };
      expect(await run({ program: node(ARGUMENTS, '${input.q}') }, job)).toMatchObject({
        outputs: [
          {
            message: expect.stringMatching(
              /too long for an argument: leave \$\{prompt\} out/,
            ) as string,
          },
        ],
        fault: 'not-started',
      });
    },
  );
});

describe('the answer of a program', () => {
  const prints = (text: string): string[] => node(`process.stdout.write(${JSON.stringify(text)})`);

  it('is read by JMESPath, with what it took', async () => {
    const answer = '{"result": "Hi", "cost": 0.25, "usage": {"in": 10, "out": 3}}';
    const tokens = { input: 'usage.in', output: 'usage.out' };

    expect(await run({ program: prints(answer), output: 'result', cost: 'cost', tokens })).toEqual({
      outputs: [{ type: 'text', text: 'Hi' }],
      tokens: 13,
      usage: { input: 10, output: 3, cached: 0 },
      dollars: 0.25,
      hasFailed: false,
    });

    const lacking = await run({
      program: prints('{"result": "Hi"}'),
      output: 'result',
      cost: 'cost',
      tokens,
    });
    expect(lacking).not.toHaveProperty('dollars');
    expect(lacking).not.toHaveProperty('usage');
  });

  it('may be a JSON value a line', async () => {
    const lines = '{"type":"start"}\n{"type":"text","text":"one"}\n\n{"type":"end","text":"two"}\n';
    const program = prints(lines);
    expect(await runForText({ program, output: "[?type=='end'].text | [0]" })).toBe('two');
    expect(await runForText({ program, output: '[].text' })).toBe('["one","two"]');
    expect(await runForText({ program: prints(`\uFEFF${lines}`), output: '[1].text' })).toBe('one');
  });

  it('is a failed run if it lacks the output or is not JSON', async () => {
    expect(await runForError({ program: prints('{"error": "no"}'), output: 'result' })).toBe(
      'declared-model returned an answer that can\'t be read: it has no `result`; it begins with {"error": "no"}',
    );
    expect(await runForError({ program: prints('Oops'), output: 'result' })).toMatch(
      /it is not JSON; it begins with Oops/,
    );
    expect(await runForText({ program: prints('Oops'), cost: 'cost' })).toBe('Oops');
  });

  it('reports the cost of a failed run', async () => {
    const script = 'console.log(JSON.stringify({cost: 0.5})); process.exitCode = 1';
    expect(await run({ program: node(script), cost: 'cost' })).toMatchObject({
      hasFailed: true,
      dollars: 0.5,
    });
  });

  it('is asked for in words if it has to match a schema', async () => {
    const schema = { type: 'object' };
    const text = await runForText({ program: node(ECHO) }, { json: { schema } });
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
