import { formatOutputData, toTextOrEmpty } from '../../files/formats/json-fields.ts';
import type { Run } from '../../wire/index.ts';
import type { DiffPart } from '../checks/check-tasks.ts';
import type { Connection, Context } from '../context.ts';
import type { ExitCode } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import { computeDifferences } from '../outputs/differences.ts';
import type { Grid, GridCell, GridPart } from '../outputs/pages/grid.ts';
import { paintDifference, renderGridTable } from '../outputs/pages/grid-terminal.ts';
import { present } from '../outputs/present.ts';
import { getRunExitCode } from '../outputs/provider-fault.ts';
import { toOneLine } from '../terminal/sanitise.ts';

/**
 * Shows a run and the former one side by side, with their differences; the exit code is that of the
 * new run.
 */
export async function compareWithFormer(
  ctx: Context,
  connection: Connection,
  former: Run,
  run: Run,
): Promise<ExitCode> {
  const [before, after] = [formatOutputs(former), formatOutputs(run)];
  const isSame = before === after;
  const parts = isSame ? undefined : await computeDifferences(ctx, before, after, 'words');
  await present(
    ctx,
    { before: former, after: run, same: isSame },
    {
      terminal: () =>
        renderGridTable(ctx.io, buildTwoRunGrid(former, run, parts), { isWhole: true }),
      plain: () =>
        [
          formatRunTitle(former),
          before,
          formatRunTitle(run),
          after,
          ...(parts ? ['differences:', paintDifference(parts, ctx.io.paint)] : ['no differences']),
        ].join('\n'),
    },
  );

  return getRunExitCode(connection, run);
}

/** Returns a grid of one row: the former run, and the new one with its differences, if any. */
function buildTwoRunGrid(former: Run, run: Run, parts: readonly DiffPart[] | undefined): Grid {
  const state = parts ? 'changed' : 'same';
  const toCell = (shown: Run, part: GridPart): GridCell => ({
    state,
    facts: [shown.runStatus, pluralize(shown.tokens, 'token')],
    parts: [part],
  });

  const toTextPart = (shown: Run): GridPart => ({ kind: 'text', text: formatOutputs(shown) });
  const cells = [
    toCell(former, toTextPart(former)),
    toCell(run, parts ? { kind: 'difference', parts } : toTextPart(run)),
  ];

  return {
    title: '',
    facts: [],
    reasons: [],
    columns: [former, run].map(({ runId }) => ({ name: runId, totals: [] })),
    rows: [{ name: 'run', state, inputs: [], cells }],
  };
}

function formatRunTitle({ runId, runStatus }: Run): string {
  return toOneLine(`${runId} ${runStatus}`);
}

function formatOutputs({ outputs }: Run): string {
  return outputs
    .map(({ type, data }) =>
      type === 'text'
        ? formatOutputData(data)
        : `${toTextOrEmpty(type)}: ${formatOutputData(data)}`,
    )
    .join('\n');
}
