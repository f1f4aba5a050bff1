import { formatOutputData, toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import type { RunCost } from '../../../service/runs/costs.ts';
import {
  MAX_LIST_LIMIT,
  type OutputItem,
  type Run,
  type RunRow,
  type RunUsage,
} from '../../../wire/index.ts';
import { formatCost, toDollars } from '../../../wire/money.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { formatIsoAge } from '../../core/durations.ts';
import { present } from '../../outputs/present.ts';
import { listWarnings } from '../../outputs/run-errors.ts';
import { findStatusPaint } from '../../outputs/run-status.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { formatPlainRows } from '../../terminal/table.ts';
import { readRun, requireRunsOrLast, resolveNamedRun } from './named-run.ts';
import type { RUNS_SHOW } from './spec.ts';

/** Shows a run's status, prompt, name, times and costs, and its shortened outputs. */
export async function printRunDetails(
  ctx: Context,
  name: string | undefined,
  flags: FlagsOf<typeof RUNS_SHOW.flags>,
): Promise<void> {
  requireRunsOrLast(ctx, name === undefined ? [] : [name], flags);
  const connection = await ctx.connection();
  const runId = await resolveNamedRun(ctx, connection, name);
  const run = await readRun(ctx, connection, runId, 'show');
  const row = await findRunRow(ctx, connection, run.runId);
  const costs = await connection.costs?.readRunCosts([run.runId]);
  const usage = toShownUsage(costs?.get(run.runId));

  const { warnings: _, ...runFields } = run;
  const warnings = listWarnings(run);
  const shownRun = {
    // The row comes first, because the run itself is newer.
    ...row,
    ...runFields,
    ...(warnings.length > 0 && { warnings }),
    ...(usage && { usage }),
  };
  await present(ctx, shownRun, {
    terminal: () => formatTerminalDetails(ctx, connection, shownRun),
    plain: () => formatPlainRows(toDetailRows(shownRun)),
  });
}

/**
 * Returns the run's row in the list, the only source of its name, time and credits; undefined if it
 * is not among the newest.
 */
async function findRunRow(
  ctx: Context,
  { client }: Connection,
  runId: string,
): Promise<RunRow | undefined> {
  const { rows } = await client.runs.list({ limit: MAX_LIST_LIMIT }, { signal: ctx.signal });
  return rows.find(row => row.runId === runId);
}

/** The usage of a run of the embedded service. The cost is in US dollars. */
type ShownUsage = Omit<RunUsage, 'model'>;

type ShownRun = Omit<Run, 'warnings'> &
  Partial<Omit<RunRow, 'usage'>> & {
    readonly usage?: ShownUsage;
    readonly warnings?: readonly string[];
  };

function toShownUsage(runCost: RunCost | undefined): ShownUsage | undefined {
  if (runCost === undefined) return undefined;
  const { tokens, cost, estimated } = runCost;
  return { tokens, cost: cost === null ? null : toDollars(cost), estimated };
}

/** Returns the credits of a run; undefined if it took none, and its cost is shown instead. */
function formatShownCredits({ credits, usage }: ShownRun): string | undefined {
  if (credits !== null) return toTextOrEmpty(credits);
  return usage === undefined ? 'free' : undefined;
}

function formatTokenCounts({ input, output, cached }: NonNullable<RunCost['tokens']>): string {
  return `${input} in (${cached} cached), ${output} out`;
}

function formatCostWithSource({ cost, estimated }: ShownUsage): string {
  return `${formatCost(cost)}${cost !== null && estimated ? ' estimated' : ''}`;
}

function formatTerminalDetails(ctx: Context, { prompts }: Connection, shownRun: ShownRun): string {
  const { promptVersionId, usage } = shownRun;
  const createdAt = toTextOrEmpty(shownRun.createdAt);
  const title = promptVersionId === undefined ? undefined : prompts.get(promptVersionId)?.title;
  const tokenCounts = usage?.tokens ? formatTokenCounts(usage.tokens) : undefined;

  return [
    formatDetail('Run', shownRun.runId),
    formatDetail('Status', shownRun.runStatus, findStatusPaint(ctx, shownRun.runStatus)),
    formatDetail('Prompt', title),
    formatDetail('Version', promptVersionId),
    formatDetail('Name', shownRun.runName),
    formatDetail(
      'Created',
      createdAt && `${formatIsoAge(createdAt, ctx.clock.now())} (${createdAt})`,
    ),
    formatDetail('Credits', formatShownCredits(shownRun)),
    formatDetail('Tokens', shownRun.tokens),
    formatDetail('Counted', tokenCounts),
    formatDetail('Cost', usage && formatCostWithSource(usage)),
    ...(shownRun.warnings ?? []).map(warning => formatDetail('Warning', warning)),
    ...shownRun.outputs.map((item, index) =>
      formatDetail(`Output ${index + 1}`, summariseOutput(item)),
    ),
  ].join('');
}

/** Returns a labelled line; nothing for an empty value. */
function formatDetail(label: string, value: unknown, paint = (text: string) => text): string {
  const text = toOneLine(toTextOrEmpty(value));
  return text === '' ? '' : `${label.padEnd(10)}${paint(text)}\n`;
}

function toDetailRows(shownRun: ShownRun): string[][] {
  const { runId, runStatus, promptVersionId, runName, createdAt, credits, tokens, outputs, usage } =
    shownRun;
  const identity = { runId, runStatus, promptVersionId, runName, createdAt, credits, tokens };
  const countedFields = {
    inputTokens: usage?.tokens?.input,
    outputTokens: usage?.tokens?.output,
    cachedTokens: usage?.tokens?.cached,
  };
  const costs = { ...countedFields, cost: usage?.cost, estimated: usage?.estimated };

  return [
    ...Object.entries({ ...identity, ...costs })
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, toTextOrEmpty(value)]),
    ...(shownRun.warnings ?? []).map(warning => ['warning', warning]),
    ...outputs.map(item => ['output', toTextOrEmpty(item.type), summariseOutput(item)]),
  ];
}

/** Maximum length of a shown text, in characters. */
const MAX_SHOWN_OUTPUT_LENGTH = 60;

function summariseOutput({ type, data }: OutputItem): string {
  const text = formatOutputData(data);
  if (type !== 'text') return `${toTextOrEmpty(type)}: ${text}`;
  const characters = Array.from(text.trim());
  const beginning = characters.slice(0, MAX_SHOWN_OUTPUT_LENGTH).join('');
  return characters.length <= MAX_SHOWN_OUTPUT_LENGTH
    ? `text: ${beginning}`
    : `text of ${characters.length} characters: ${beginning}…`;
}
