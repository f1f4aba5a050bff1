import { formatOutputData, toTextOrEmpty } from '../../files/formats/json-fields.ts';
import type { Run } from '../../wire/index.ts';
import type { DiffPart } from '../checks/check-tasks.ts';
import type { Connection, Context } from '../context.ts';
import type { ExitCode } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import { computeDifferences } from '../outputs/differences.ts';
import type { Grid, GridCell, GridPart } from '../outputs/html/grid.ts';
import { paintDifference, renderGridTable } from '../outputs/html/grid-terminal.ts';
import { present } from '../outputs/present.ts';
import { getRunExitCode } from '../outputs/provider-fault.ts';
import { toOneLine } from '../terminal/sanitise.ts';

/** Two runs of the same prompt. */
interface RunPair {
  readonly before: Run;
  readonly after: Run;
}

/**
 * Shows a run and an earlier one side by side, with their differences; the exit code is that of the
 * later run.
 */
export async function showComparedRuns(
  ctx: Context,
  connection: Connection,
  { before, after }: RunPair,
): Promise<ExitCode> {
  const textBefore = formatOutputs(before);
  const textAfter = formatOutputs(after);
  const isSame = textBefore === textAfter;
  const differences = isSame
    ? undefined
    : await computeDifferences(ctx, textBefore, textAfter, 'words');
  await present(
    ctx,
    { before, after, same: isSame },
    {
      terminal: () =>
        renderGridTable(ctx.io, buildTwoRunGrid({ before, after }, differences), { isWhole: true }),
      plain: () =>
        [
          formatRunTitle(before),
          textBefore,
          formatRunTitle(after),
          textAfter,
          ...(differences
            ? ['differences:', paintDifference(differences, ctx.io.paint)]
            : ['no differences']),
        ].join('\n'),
    },
  );

  return getRunExitCode(connection, after);
}

/** Returns a grid of one row: the earlier run, and the later one with its differences, if any. */
function buildTwoRunGrid(
  { before, after }: RunPair,
  differences: readonly DiffPart[] | undefined,
): Grid {
  const state = differences ? 'changed' : 'same';
  const toCell = (run: Run, part: GridPart): GridCell => ({
    state,
    facts: [run.runStatus, pluralize(run.tokens, 'token')],
    parts: [part],
  });

  const toTextPart = (run: Run): GridPart => ({ kind: 'text', text: formatOutputs(run) });
  const cells = [
    toCell(before, toTextPart(before)),
    toCell(after, differences ? { kind: 'difference', parts: differences } : toTextPart(after)),
  ];

  return {
    title: '',
    facts: [],
    faults: [],
    columns: [before, after].map(({ runId }) => ({ name: runId, totals: [] })),
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
