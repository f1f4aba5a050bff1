import type { Context } from '../../context.ts';
import { formatIsoAge } from '../../core/durations.ts';
import { pluralize } from '../../core/pluralize.ts';
import { presentList } from '../../outputs/present.ts';
import { formatRunStatus } from '../../outputs/run-status.ts';
import { isInDoubt, type JournalEntry } from '../../settings/journal/journal-lines.ts';
import type { Cell } from '../../terminal/table.ts';

/** Shows the runs started on this machine, newest first. Sends nothing. */
export async function printStartedRuns(ctx: Context): Promise<void> {
  const { journal } = ctx;
  const { entries, damagedCount } = await journal.read();
  if (damagedCount > 0) {
    ctx.io.note(
      `note: left out ${pluralize(damagedCount, 'line')} of ${journal.file} that can't be read`,
    );
  }

  const rows = entries.map(entry => ({ ...entry, inDoubt: isInDoubt(entry) }));
  await presentList(ctx, rows, {
    columns: [
      {
        title: 'STARTED',
        dropOrder: 3,
        cell: ({ time }) => formatIsoAge(time, ctx.clock.now()),
        plain: ({ time }) => time,
      },
      { title: 'STATUS', cell: entry => formatStatusCell(ctx, entry) },
      { title: 'RUN', hasIds: true, cell: ({ runId }) => runId ?? '-' },
      {
        title: 'PROMPT VERSION',
        hasIds: true,
        dropOrder: 1,
        cell: ({ promptVersionId }) => promptVersionId,
      },
      { title: 'SERVICE', minWidth: 12, dropOrder: 2, cell: ({ baseUrl }) => baseUrl },
    ],
    emptyText: 'no runs were started on this machine',
  });
}

function formatStatusCell(ctx: Context, entry: JournalEntry): Cell {
  if (isInDoubt(entry)) return { text: 'in doubt', paint: ctx.io.paint.yellow };
  if (entry.outcome === 'refused' || entry.outcome === 'failed') return entry.outcome;
  if (entry.outcome === 'none') return 'no run';
  const hasEnded = entry.runStatus === 'succeeded' || entry.runStatus === 'failed';
  return hasEnded ? formatRunStatus(ctx, entry.runStatus) : 'started';
}
