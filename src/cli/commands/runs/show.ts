import { MAX_LIST_LIMIT, type OutputItem, type Run, type RunRow } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { fieldText } from '../../core/json-value.ts';
import { ageOf } from '../../core/time.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { plainRows, runStatusCell } from '../../terminal/table.ts';
import { checkRunNamed, namedRun } from './named-run.ts';

/** Shows the facts of a run: its status, prompt, name, times, costs, and its outputs in short. */
export async function runsShow(
  ctx: Context,
  name: string | undefined,
  flags: { readonly last?: boolean },
): Promise<ExitCode> {
  checkRunNamed(name, flags);
  const connection = await ctx.connection();
  const runId = await namedRun(ctx, connection, name);
  const run = await connection.client.runs.get(runId, { signal: ctx.signal });
  const row = await rowOf(ctx, connection, run.runId);
  const facts = { ...row, ...run };
  await present(ctx, facts, {
    terminal: () => terminalFacts(ctx, connection, facts),
    plain: () => plainRows(factRows(facts)),
  });
  return EXIT.ok;
}

/** What a list says of the run; undefined for one that is not among the newest. */
async function rowOf(ctx: Context, { client }: Connection, runId: string): Promise<RunRow | undefined> {
  const { rows } = await client.runs.list({ limit: MAX_LIST_LIMIT }, { signal: ctx.signal });
  return rows.find(row => row.runId === runId);
}

type Facts = Run & Partial<RunRow>;

function terminalFacts(ctx: Context, { prompts }: Connection, facts: Facts): string {
  const { createdAt, promptVersionId } = facts;
  const title = promptVersionId === undefined ? undefined : prompts.get(promptVersionId)?.title;
  const status = runStatusCell(ctx, fieldText(facts.runStatus));
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Run', facts.runId],
    ['Status', typeof status === 'string' ? oneLine(status) : status.paint(oneLine(status.text))],
    ['Prompt', title],
    ['Version', promptVersionId],
    ['Name', facts.runName],
    ['Created', createdAt && `${ageOf(createdAt, ctx.clock.now())} (${createdAt})`],
    ['Credits', facts.credits === null ? 'free' : fieldText(facts.credits)],
    ['Tokens', fieldText(facts.tokens)],
    ...facts.outputs.map((item, at): [string, string] => [`Output ${at + 1}`, inShort(item)]),
  ];
  const shown = rows.filter(([, value]) => value !== undefined && value !== '');
  return shown
    .map(([label, value = '']) => `${label.padEnd(10)}${label === 'Status' ? value : oneLine(value)}\n`)
    .join('');
}

function factRows(facts: Facts): string[][] {
  const { runId, runStatus, promptVersionId, runName, createdAt, credits, tokens, outputs } = facts;
  const known = { runId, runStatus, promptVersionId, runName, createdAt, credits, tokens };
  return [
    ...Object.entries(known)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, fieldText(value)]),
    ...outputs.map(item => ['output', fieldText(item.type), inShort(item)]),
  ];
}

/** How much of a text is shown, in characters. */
const LONGEST_TEXT = 60;

function inShort({ type, data }: OutputItem): string {
  const text = fieldText(data);
  if (type !== 'text') return `${fieldText(type)}: ${text}`;
  const characters = Array.from(text.trim());
  const beginning = characters.slice(0, LONGEST_TEXT).join('');
  return characters.length <= LONGEST_TEXT
    ? `text: ${beginning}`
    : `text of ${characters.length} characters: ${beginning}…`;
}
