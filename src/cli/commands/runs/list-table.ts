import type { RunRow } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { ageOf } from '../../outputs/age.ts';
import { type Cell, type Column, plainRow, terminalTable } from '../../outputs/table.ts';
import { fieldText } from '../../outputs/field-text.ts';

// Below this many columns an age goes without its "ago".
const ROOMY = 80;

const COLUMNS: readonly Column[] = [
  { title: 'RUN' },
  { title: 'STATUS' },
  { title: 'NAME', min: 10, dropOrder: 3 },
  { title: 'AGE', dropOrder: 4 },
  { title: 'CREDITS', align: 'right', dropOrder: 2 },
  { title: 'PROMPT VERSION', dropOrder: 1 },
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
      statusCell(ctx, row),
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
    statusCell(ctx, row),
    fieldText(row.createdAt),
    row.credits === null ? '-' : fieldText(row.credits),
    fieldText(row.promptVersionId),
    fieldText(row.runName),
  ]);
}

function statusCell({ io: { paint } }: Pick<Context, 'io'>, row: RunRow): Cell {
  const paints = new Map<string, (text: string) => string>([
    ['succeeded', paint.green],
    ['failed', paint.red],
    ['running', paint.yellow],
    ['queued', paint.cyan],
  ]);
  const text = fieldText(row.runStatus);
  const colour = paints.get(text);
  return colour === undefined ? text : { text, paint: colour };
}
