import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FakeProvider } from '../providers/fake-provider.ts';
import { ProviderLedger, type StopPoint } from '../providers/provider-ledger.ts';
import { startCommand } from './start-command.ts';

/** The requests of a batch in their order, and where the command is killed at each. */
const STEPS: Readonly<Record<'openai' | 'anthropic', readonly (readonly [RegExp, StopPoint])[]>> = {
  openai: [
    [/^POST .*\/files$/, 'before'],
    [/^POST .*\/files$/, 'after'],
    [/^POST .*\/batches$/, 'before'],
    [/^POST .*\/batches$/, 'after'],
    [/^GET .*\/batches\?/, 'before'],
    [/^GET .*\/batches\/\w+$/, 'before'],
    [/^GET .*\/files\/.*\/content$/, 'within'],
  ],
  anthropic: [
    [/^POST .*\/batches$/, 'before'],
    [/^POST .*\/batches$/, 'after'],
    [/^GET .*\/batches\?/, 'before'],
    [/^GET .*\/batches\/\w+$/, 'before'],
    [/^GET .*\/results$/, 'within'],
  ],
};

export interface KillsVerdict {
  readonly starts: number;
  readonly exitCode: number | null;
  readonly stderr: string;
  /** Rows of each batch that was created. */
  readonly batches: readonly number[];
  /** Rows that have no line, or another row's answer; ids. */
  readonly wrong: readonly string[];
  readonly lines: number;
  /** The provider's bill and the cost in the lines, in dollars. */
  readonly bill: number;
  readonly cost: number;
  /** True if the journals still name something open. */
  readonly open: boolean;
}

interface Line {
  readonly id: string;
  readonly outputs: readonly { readonly data: string }[];
  readonly cost: number | null;
}

/**
 * Hands rows over to a provider in a batch, with the command killed at each step of it; asks the
 * ledger then.
 */
export async function killAtEachStep(
  engine: 'openai' | 'anthropic',
  rows: number,
  home: string,
): Promise<KillsVerdict> {
  const provider = await FakeProvider.start();
  try {
    return await run(engine, rows, { home, provider });
  } finally {
    await provider.close();
  }
}

async function run(
  engine: 'openai' | 'anthropic',
  rows: number,
  { home, provider }: { home: string; provider: FakeProvider },
): Promise<KillsVerdict> {
  const ledger = new ProviderLedger();
  ledger.origin = new URL(provider.baseUrl).origin;
  provider.reset(ledger.handler);
  writeBatch(
    home,
    rows,
    `{baseUrl: "${engine === 'openai' ? provider.baseUrl : ledger.origin}", batch: true, engine: ${engine}, apiKeyEnv: P_KEY}`,
  );

  const out = path.join(home, 'out.jsonl');
  let starts = 0;
  for (const [at, point] of STEPS[engine]) {
    const stopped = ledger.stopAt(at, point);
    const { child, ended } = start(home, starts++ > 0);
    const endedEarly = ended.then(({ code, stderr }) =>
      Promise.reject(new Error(`ended (${code}) before ${String(at)}: ${stderr}`)),
    );
    await Promise.race([stopped, endedEarly]);

    // A kill in the middle of the answers comes once some of them are in the results.
    const expectedRows = point === 'within' ? rows / 4 : 0;
    while (readLines(out).length < expectedRows) await Promise.race([pause(20), endedEarly]);
    endedEarly.catch(() => {});
    child.kill('SIGKILL');
    await ended;
  }

  const { code: exitCode, stderr } = await start(home, true).ended;
  const lines = readLines(out);
  const isRight = ({ id, outputs: [output] }: Line): boolean =>
    output?.data.includes(`<row ${id}>`) ?? false;
  const rightIds = new Set(lines.filter(isRight).map(({ id }) => id));

  return {
    starts: starts + 1,
    exitCode,
    stderr,
    batches: ledger.batches.map(({ entries }) => entries.length),
    wrong: Array.from({ length: rows }, (_, index) => String(index + 1)).filter(
      id => !rightIds.has(id),
    ),
    lines: lines.length,
    bill: ledger.bill,
    cost: lines.reduce((sum, { cost }) => sum + Math.round((cost ?? 0) * 1e6), 0) / 1e6,
    open: existsSync(`${out}.journal`),
  };
}

function writeBatch(home: string, rows: number, provider: string): void {
  mkdirSync(path.join(home, 'data'), { mode: 0o700 });
  writeFileSync(
    path.join(home, 'data', 'models.yaml'),
    `providers: {p: ${provider}}\nmodels: [{model: m, modality: text, provider: p, price: {input: 2, output: 8}}]\n`,
  );
  writeFileSync(path.join(home, 'ask.prompt'), '---\nmodel: m\n---\nAsk {{{name}}}');
  const names = Array.from({ length: rows }, (_, index) => `<row ${index + 1}>`);
  writeFileSync(path.join(home, 'rows.csv'), `name\n${names.join('\n')}\n`);
}

function start(home: string, resumes: boolean): ReturnType<typeof startCommand> {
  const flags = ['--out', 'out.jsonl', '--provider-batch', ...(resumes ? ['--resume'] : [])];
  const argv = [
    path.resolve('bin/promptrun.js'),
    'batch',
    'ask.prompt',
    '--from',
    'rows.csv',
    ...flags,
  ];
  return startCommand(argv, home, {
    PROMPTRUN_DATA_DIR: path.join(home, 'data'),
    P_KEY: 'k-12345678',
  });
}

function readLines(file: string): Line[] {
  if (!existsSync(file)) return [];
  const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return whole.map(line => JSON.parse(line) as Line);
}
