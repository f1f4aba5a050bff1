import type { RunRow } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { ageOf } from '../../core/age.ts';
import { fieldText } from '../../core/json-value.ts';
import { type Column, plainRow, runStatusCell, terminalTable } from '../../terminal/table.ts';

// Below this many columns an age goes without its "ago".
const ROOMY = 80;

const COLUMNS: readonly Column[] = [
  { title: 'RUN', ids: true },
  { title: 'STATUS' },
  { title: 'NAME', min: 10 },
  { title: 'AGE' },
  { title: 'CREDITS', align: 'right' },
  { title: 'PROMPT VERSION', ids: true, dropOrder: 1 },
];

/** The runs as a table for people. */
export function runsTable(ctx: Pick<Context, 'io' | 'clock'>, rows: readonly RunRow[]): Promise<string> {
  const now = ctx.clock.now();
  const age = (row: RunRow): string => {
    const words = ageOf(fieldText(row.createdAt), now);
    return ctx.io.stdout.columns < ROOMY ? words.replace(/ ago$/u, '') : words;
  };
  return terminalTable(
    ctx.io,
    COLUMNS,
    rows.map(row => [
      fieldText(row.runId),
      runStatusCell(ctx, fieldText(row.runStatus)),
      fieldText(row.runName),
      age(row),
      row.credits === null ? 'free' : fieldText(row.credits),
      fieldText(row.promptVersionId),
    ]),
  );
}

/** A run as a tab-separated line for programs: id, status, time, credits (`-` if free), prompt version, name. */
export function runLine(ctx: Pick<Context, 'io'>, row: RunRow): string {
  return plainRow([
    fieldText(row.runId),
    runStatusCell(ctx, fieldText(row.runStatus)),
    fieldText(row.createdAt),
    row.credits === null ? '-' : fieldText(row.credits),
    fieldText(row.promptVersionId),
    fieldText(row.runName),
  ]);
}
