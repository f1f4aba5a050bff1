import type { Context } from '../../context.ts';
import { counted } from '../../core/counted.ts';
import { ageOf } from '../../core/time.ts';
import { presentList } from '../../outputs/present.ts';
import { inDoubt, type JournalEntry } from '../../settings/journal/journal-lines.ts';
import { type Cell, type Column, runStatusCell } from '../../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'STARTED', dropOrder: 3 },
  { title: 'STATUS' },
  { title: 'RUN', ids: true },
  { title: 'PROMPT VERSION', ids: true, dropOrder: 1 },
  { title: 'SERVICE', min: 12, dropOrder: 2 },
];

/** Shows the runs started on this machine, newest first. Sends nothing. */
export async function runsJournal(ctx: Context): Promise<void> {
  const { journal } = ctx;
  const { entries, damaged } = await journal.read();
  if (damaged > 0) {
    ctx.io.note(`note: ${counted(damaged, 'line')} of ${journal.file} can't be read and left out`);
  }
  const newestFirst = entries.map(entry => ({ ...entry, inDoubt: inDoubt(entry) }));
  await presentList(ctx, newestFirst, {
    columns: COLUMNS,
    cells: entry => cells(ctx, entry, entry.time),
    shown: entry => cells(ctx, entry, ageOf(entry.time, ctx.clock.now())),
    nothing: 'no runs were started on this machine',
  });
}

function cells(ctx: Context, entry: JournalEntry, when: string): Cell[] {
  return [when, statusCell(ctx, entry), entry.runId ?? '-', entry.promptVersionId, entry.baseUrl];
}

function statusCell(ctx: Context, entry: JournalEntry): Cell {
  if (inDoubt(entry)) return { text: 'in doubt', paint: ctx.io.paint.yellow };
  if (entry.outcome === 'refused' || entry.outcome === 'failed') return entry.outcome;
  if (entry.outcome === 'none') return 'no run';
  const ended = entry.runStatus === 'succeeded' || entry.runStatus === 'failed';
  return ended ? runStatusCell(ctx, entry.runStatus) : 'started';
}
