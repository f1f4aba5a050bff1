import { isAscii } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { COMMAND, runCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { measureEnteredFiles } from '../support/entered-files.ts';
import {
  type ScriptedService,
  startScriptedService,
  success,
} from '../support/scripted-service.ts';

const REPORTER = path.resolve(import.meta.dirname, '../support/report-loaded.cjs');
const INSTALLED = path.resolve(path.dirname(COMMAND), '..');

interface Loaded {
  /** Files of the package, without the SQLite that Node 20 needs. */
  readonly files: readonly string[];
  readonly kilobytes: number;
  /** Node's own modules, by their names without `node:`. */
  readonly builtins: readonly string[];
}

interface Call {
  /** The built file; default the command. */
  readonly command?: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the modules that a run of the built command has loaded by its end. */
async function measureLoaded({ args, env = {}, command = COMMAND }: Call): Promise<Loaded> {
  const report = path.join(createTemporaryDirectory(), 'loaded.json');
  const { code, stderr } = await runCommand(args, {
    command,
    nodeArgs: ['--require', REPORTER],
    env: { ...env, LOADED_REPORT: report },
  });

  expect(code, stderr).toBe(0);

  const loaded = JSON.parse(readFileSync(report, 'utf8')) as Pick<Loaded, 'files' | 'builtins'>;
  const files = loaded.files.filter(
    file => file.startsWith(INSTALLED) && !file.includes('node_modules') && !file.endsWith('.node'),
  );
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  return { files, kilobytes: Math.ceil(bytes / 1000), builtins: loaded.builtins };
}

/**
 * Node's modules that cost milliseconds; `net` is not among them: Node loads it itself where output
 * is a pipe; nor `zlib`, whose sum of compiled code is cheaper than reading it twice.
 */
const COSTLY = [
  'assert',
  'child_process',
  'crypto',
  'dns',
  'fs/promises',
  'http',
  'http2',
  'https',
  'inspector',
  'perf_hooks',
  'readline',
  'sqlite',
  'tls',
  'v8',
  'worker_threads',
];

const RUN = '6a1f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b11';

/** The modules that reading settings needs; `child_process` comes with commander. */
const READ_SETTINGS = ['child_process', 'crypto', 'fs/promises'];

interface Budget {
  readonly files: number;
  readonly kilobytes: number;
  /** The costly modules of Node that it may load. */
  readonly builtins: readonly string[];
}

function expectWithin(loaded: Loaded, budget: Budget): void {
  const costly = loaded.builtins.filter(name => COSTLY.includes(name));
  expect.soft(loaded.files.length, loaded.files.join('\n')).toBeLessThanOrEqual(budget.files);
  expect.soft(loaded.kilobytes, 'kilobytes').toBeLessThanOrEqual(budget.kilobytes);
  expect.soft(costly.filter(name => !budget.builtins.includes(name))).toEqual([]);
  const decoded = loaded.files.filter(file => !isAscii(readFileSync(file)));
  expect.soft(decoded, 'files that V8 has to decode').toEqual([]);
}

describe('what the built command loads', () => {
  let service: ScriptedService | undefined;
  afterEach(() => service?.close());

  // The table of commands is all that help and version read: it grows with every command.
  it.each([
    ['its version', ['--version'], { files: 5, kilobytes: 125, builtins: ['child_process'] }],
    ['its help', ['--help'], { files: 5, kilobytes: 125, builtins: ['child_process'] }],
    [
      'a completion',
      ['__complete', 'bash', '--', 'promptrun run hel'],
      { files: 7, kilobytes: 214, builtins: READ_SETTINGS },
    ],
    [
      'reading a setting',
      ['config', 'get', 'concurrency'],
      { files: 7, kilobytes: 201, builtins: READ_SETTINGS },
    ],
  ] as const)('for %s', async (_, args, budget) => {
    expectWithin(await measureLoaded({ args }), budget);
  });

  it('for one call of a service', async () => {
    const run = {
      runId: RUN,
      outputs: [{ type: 'text', data: 'hello' }],
      runStatus: 'succeeded',
      tokens: 1,
    };
    service = await startScriptedService([{ expect: { method: 'POST' }, answer: success(run) }]);
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-key' };
    const loaded = await measureLoaded({ args: ['run', RUN, '-i', 'name=Ada'], env });
    const builtins = [...READ_SETTINGS, 'v8', 'assert', 'http', 'http2', 'tls'];
    expectWithin(loaded, { files: 9, kilobytes: 580, builtins });
  });

  it.skipIf(process.env['PROMPTRUN_COMMAND'])('and enters for one run on a service', async () => {
    const run = {
      runId: RUN,
      outputs: [{ type: 'text', data: 'hello' }],
      runStatus: 'succeeded',
      tokens: 1,
    };
    service = await startScriptedService([{ expect: { method: 'POST' }, answer: success(run) }]);
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-key' };
    const { loaded, entered } = await measureEnteredFiles(['run', RUN, '-i', 'name=Ada'], env);

    expect(entered).toContain('src/cli/creation/create-run.ts');
    expect.soft(entered.length, entered.join('\n')).toBeLessThanOrEqual(50);
    expect
      .soft(loaded.length, loaded.filter(file => !entered.includes(file)).join('\n'))
      .toBeLessThanOrEqual(120);
  });

  it.each([
    ['that checks answers', 'check-worker.cjs', { files: 5, kilobytes: 12, builtins: [] }],
    [
      'that reads and renders prompts',
      'prompt-worker.cjs',
      { files: 8, kilobytes: 337, builtins: READ_SETTINGS },
    ],
  ] as const)('for a process %s', async (_, name, budget) => {
    expectWithin(
      await measureLoaded({ command: path.join(INSTALLED, 'dist', name), args: [] }),
      budget,
    );
  });

  it('for one run on the embedded service', async () => {
    const loaded = await measureLoaded({ args: ['run', 'hello', '-i', 'name=Ada'] });
    const builtins = COSTLY.filter(name => name !== 'http2' && name !== 'worker_threads');
    expectWithin(loaded, { files: 15, kilobytes: 937, builtins });
  });
});
