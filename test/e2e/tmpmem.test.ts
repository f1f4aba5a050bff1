import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandOutcome, type RunningCommand, startCommand } from '../support/command.ts';
import { fastClock, runCommandHere, startCommandHere } from '../support/command-here.ts';
import { temporaryDirectory } from '../support/context.ts';
import { FakeProvider } from '../support/providers/fake-provider.ts';
import { ProviderLedger } from '../support/providers/provider-ledger.ts';
import { isPosix } from '../support/system.ts';

let provider: FakeProvider;
let ledger: ProviderLedger;
let home: string;

beforeEach(async () => {
  provider = await FakeProvider.start();
  ledger = new ProviderLedger();
  ledger.origin = new URL(provider.baseUrl).origin;
  provider.reset(ledger.handler);
  home = temporaryDirectory();
  const dataDir = path.join(home, 'the-data');
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(
    path.join(dataDir, 'models.yaml'),
    `providers:
  o: {baseUrl: "${provider.baseUrl}", batch: true, apiKeyEnv: O_KEY}
  a: {baseUrl: "${ledger.origin}", batch: true, engine: anthropic, apiKeyEnv: O_KEY}
  plain: {baseUrl: "${provider.baseUrl}"}
models:
  - {model: open, modality: text, provider: o, price: {input: 2, output: 8}}
  - {model: claude, modality: text, provider: a, price: {input: 2, output: 8}}
  - {model: plain, modality: text, provider: plain}
`,
  );
  for (const model of ['open', 'claude', 'plain']) {
    writeFileSync(path.join(home, `${model}.prompt`), `---\nmodel: ${model}\n---\nName: {{name}}`);
  }
  writeFileSync(path.join(home, 'rows.csv'), 'id,name\nr1,Ada\nr2,Bob\nr3,Cy\n');
});
afterEach(() => provider.close());

const argsFor = (model: string, flags: readonly string[]): string[] =>
  ['batch', `${model}.prompt`, '--from', 'rows.csv', '--out', 'out.jsonl', '--provider-batch'].concat(flags);

const env = (): Record<string, string> => ({
  PROMPTRUN_DATA_DIR: path.join(home, 'the-data'),
  O_KEY: 'k-secret-12345',
});

/** Starts a batch in a process of its own, which can be killed. */
const start = (model: string, ...flags: string[]): RunningCommand =>
  startCommand(argsFor(model, flags), { home, env: env() });

/** Starts a batch in this process, with the waits between looks at the provider cut short. */
const startHere = (model: string, ...flags: string[]) =>
  startCommandHere(argsFor(model, flags), { home, env: env(), clock: fastClock(50) });

const batch = (model: string, ...flags: string[]): Promise<CommandOutcome> =>
  startHere(model, ...flags).ended;

/** Starts a batch that does not end at the provider, and leaves it by Ctrl-C. */
async function leave(model: string): Promise<CommandOutcome> {
  ledger.looksToEnd = 1000;
  const { stderr, raise, ended } = startHere(model);
  await expect.poll(stderr).toContain('in_progress');
  raise('SIGINT');
  return await ended;
}

interface Line {
  id: string;
  runId: string | null;
  runStatus: string | null;
  outputs: { data: string }[];
  seconds: number | null;
  cost: number | null;
  error: string | null;
}

const lines = (): Line[] =>
  readFileSync(path.join(home, 'out.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Line);
const journal = (): string => path.join(home, 'out.jsonl.journal');


for (const model of ['open', 'claude']) {
it('memory ' + model, async () => {
  const rows = Array.from({ length: 640 }, (_, row) => `r${row},${'x'.repeat(900_000)}\n`);
  writeFileSync(path.join(home, 'rows.csv'), 'id,name\n'); for (const r of rows) writeFileSync(path.join(home, 'rows.csv'), r, { flag: 'a' });
  const { ended, child, stderr } = start(model);
  let hwm = '';
  let last = '';
  const t = setInterval(() => { try { hwm = /VmHWM:\s*(\d+)/.exec(readFileSync('/proc/' + child.pid + '/status', 'utf8'))?.[1] ?? hwm; const l = stderr().split('\n').at(-2) ?? ''; if (l !== last) { console.log(hwm, l); last = l; } } catch {} }, 20);
  const { code } = await ended;
  clearInterval(t);
  console.log(model, code, Number(hwm) / 1024, stderr().slice(-300));
}, 300000);
}
