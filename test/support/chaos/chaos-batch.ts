import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type ChaosOptions,
  ChaosService,
  createRandom,
  type LedgerRun,
  VERSION,
} from './chaos-service.ts';
import { startCommand } from './start-command.ts';

export interface ChaosPlan extends ChaosOptions {
  readonly command: string;
  readonly rows: number;
  /** The number of times that the client is killed, at moments that the seed decides. */
  readonly kills: number;
  /** True if the client knows that nobody else uses the key. */
  readonly exclusive: boolean;
}

/** The outcome of a batch under chaos, by the service's ledger. */
export interface ChaosVerdict {
  readonly succeeded: number;
  readonly failed: number;
  readonly inDoubt: number;
  /** Runs paid for beyond one a row. */
  readonly doubles: readonly string[];
  /** Rows that were given another row's run, or somebody else's. */
  readonly wrong: readonly string[];
  /** Rows that nobody speaks of any more. */
  readonly lost: readonly string[];
  /** Rows in doubt whose run exists, but is not named. */
  readonly unnamed: readonly string[];
  readonly starts: number;
  readonly lists: number;
  readonly exitCode: number | null;
  readonly stderr: string;
}

interface Line {
  readonly id: string;
  readonly runId: string | null;
  readonly runStatus: string;
  readonly outputs: readonly { readonly data: string }[];
}

interface Step {
  readonly id?: string;
  readonly state?: string;
  /** The idempotency key of the creation that the step is about. */
  readonly journalId?: string;
  readonly candidates?: readonly string[];
}

const MOST_STARTS = 40;

/**
 * Runs a batch against a chaos service, killing it now and then, until it gets no further; asks the
 * ledger then.
 */
export async function runChaosBatch(plan: ChaosPlan): Promise<ChaosVerdict> {
  const service = new ChaosService(plan);
  await service.listen();

  const home = mkdtempSync(path.join(tmpdir(), 'promptrun-chaos-'));
  try {
    const names = Array.from({ length: plan.rows }, (_, index) => getRowName(index));
    writeFileSync(path.join(home, 'rows.csv'), `name\n${names.join('\n')}\n`);
    const ended = await runToTheEnd(plan, service, home);
    return { ...judge(names, service.ledger, home), ...ended, lists: service.lists };
  } finally {
    service.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Returns the name of a row; every tenth row is the same as the one before. */
function getRowName(at: number): string {
  return `row ${at % 10 === 9 ? at - 1 : at}`;
}

async function runToTheEnd(
  plan: ChaosPlan,
  service: ChaosService,
  home: string,
): Promise<{ starts: number; exitCode: number | null; stderr: string }> {
  const random = createRandom(plan.seed + 1);
  for (let starts = 1; ; starts++) {
    const before = service.creations;
    const { child, ended } = start(plan, service, home);
    const isKilled = starts <= plan.kills;
    const killAfterMs = 300 + (random() * plan.rows * 25) / (plan.kills + 1);
    const timer = isKilled ? setTimeout(() => child.kill('SIGKILL'), killAfterMs) : undefined;
    const { code, stderr } = await ended;
    clearTimeout(timer);
    if (isKilled && code === null) continue;

    const isComplete = !existsSync(path.join(home, 'results.jsonl.journal'));

    // One that sent nothing only looked at the list, which had caught up by then unless a kill came
    // just before.
    const isSettled = service.creations === before && starts > plan.kills + 1;
    if (isComplete || isSettled || starts === MOST_STARTS) {
      return { starts, exitCode: code, stderr };
    }

    await new Promise(resolve => setTimeout(resolve, plan.lagMs));
  }
}

function start(
  { command, exclusive }: ChaosPlan,
  { url }: ChaosService,
  home: string,
): ReturnType<typeof startCommand> {
  const flags = ['--rate', '0', '--concurrency', '16', '--resume', '--out', 'results.jsonl'];
  return startCommand([command, 'batch', VERSION, '--from', 'rows.csv', ...flags], home, {
    PROMPTRUN_BASE_URL: url,
    PROMPTRUN_API_KEY: 'a-key',
    ...(exclusive && { PROMPTRUN_EXCLUSIVE_KEY: '1' }),
  });
}

type Judgement = Pick<
  ChaosVerdict,
  'succeeded' | 'failed' | 'inDoubt' | 'doubles' | 'wrong' | 'lost' | 'unnamed'
>;

function judge(names: readonly string[], ledger: readonly LedgerRun[], home: string): Judgement {
  const lines = readJsonLines<Line>(path.join(home, 'results.jsonl'));
  const steps = readJsonLines<Step>(path.join(home, 'results.jsonl.journal'));
  const byRun = new Map(ledger.map(run => [run.runId, run]));

  const seen = new Set<string>();
  const wrong: string[] = [];
  for (const { id, runId, outputs } of lines) {
    const name = names[Number(id) - 1] ?? '';
    if (runId === null) continue;
    const isRight = byRun.get(runId)?.name === name && outputs[0]?.data === `Hello, ${name}!`;
    if (!isRight || seen.has(runId)) wrong.push(`row ${id} has run ${runId}`);
    seen.add(runId);
  }

  const byRow = new Map(lines.map(line => [line.id, line]));
  const open = new Map(
    steps.flatMap(step => (step.id === undefined ? [] : [[step.id, step] as const])),
  );
  const ids = names.map((_, index) => String(index + 1));
  const inDoubt = ids.filter(id => !byRow.has(id) && open.has(id));

  return {
    succeeded: lines.filter(({ runStatus }) => runStatus === 'succeeded').length,
    failed: lines.filter(({ runStatus }) => runStatus === 'failed').length,
    inDoubt: inDoubt.length,
    doubles: listPaidTwice(names, ledger),
    wrong: [...wrong, ...(lines.length > byRow.size ? ['a row has two lines'] : [])],
    lost: ids.filter(id => !byRow.has(id) && !open.has(id)),
    unnamed: inDoubt.filter(id => !isNamed(ledger, listStepsOfRow(steps, id))),
  };
}

function listPaidTwice(names: readonly string[], ledger: readonly LedgerRun[]): string[] {
  const count = (all: readonly (string | undefined)[]): Map<string | undefined, number> => {
    const counts = new Map<string | undefined, number>();
    for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
    return counts;
  };

  const expectedCounts = count(names);
  const madeCounts = count(ledger.map(({ name }) => name));
  return [...madeCounts].flatMap(([name, runs]) =>
    name !== undefined && runs > (expectedCounts.get(name) ?? 0)
      ? [`${name} has ${runs} runs`]
      : [],
  );
}

function listStepsOfRow(steps: readonly Step[], id: string): Step[] {
  return steps.filter(step => step.id === id);
}

/**
 * Returns true if a row in doubt names the runs that its creations made as candidates. Goes by
 * keys, because a row with the same inputs may have made a run before this one was sent.
 */
function isNamed(ledger: readonly LedgerRun[], steps: readonly Step[]): boolean {
  const keys = new Set(steps.flatMap(({ journalId }) => journalId ?? []));
  const candidates = new Set(steps.at(-1)?.candidates);
  const ownRuns = ledger.filter(({ key = '' }) => keys.has(key));
  return keys.size > 0 && ownRuns.every(({ runId }) => candidates.has(runId));
}

function readJsonLines<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map(line => JSON.parse(line) as T);
}
