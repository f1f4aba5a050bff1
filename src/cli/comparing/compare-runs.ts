import { dataText, textOrNothing } from '../../files/formats/json-fields.ts';
import type { Run } from '../../wire/index.ts';
import type { DiffPart } from '../checks/check-tasks.ts';
import type { Connection, Context } from '../context.ts';
import type { ExitCode } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import { differences } from '../outputs/differences.ts';
import type { Grid, GridCell, GridPart } from '../outputs/pages/grid.ts';
import { gridTable, paintedDifference } from '../outputs/pages/grid-terminal.ts';
import { present } from '../outputs/present.ts';
import { exitCodeOfRun } from '../outputs/provider-fault.ts';
import { oneLine } from '../terminal/sanitise.ts';

/** Shows a run and the former one side by side, with their differences; the exit code is that of the new run. */
export async function compareWithFormer(
  ctx: Context,
  connection: Connection,
  former: Run,
  run: Run,
): Promise<ExitCode> {
  const [before, after] = [comparedText(former), comparedText(run)];
  const isSame = before === after;
  const parts = isSame ? undefined : await differences(ctx, before, after, 'words');
  await present(
    ctx,
    { before: former, after: run, same: isSame },
    {
      terminal: () => gridTable(ctx.io, gridOfTwo(former, run, parts), { isWhole: true }),
      plain: () =>
        [
          runTitle(former),
          before,
          runTitle(run),
          after,
          ...(parts ? ['differences:', paintedDifference(parts, ctx.io.paint)] : ['no differences']),
        ].join('\n'),
    },
  );
  return exitCodeOfRun(connection, run);
}

/** Returns a grid of one row: the former run, and the new one with its differences, if any. */
function gridOfTwo(former: Run, run: Run, parts: readonly DiffPart[] | undefined): Grid {
  const state = parts ? 'changed' : 'same';
  const toCell = (shown: Run, part: GridPart): GridCell => ({
    state,
    facts: [shown.runStatus, pluralize(shown.tokens, 'token')],
    parts: [part],
  });
  const whole = (shown: Run): GridPart => ({ kind: 'text', text: comparedText(shown) });
  const cells = [
    toCell(former, whole(former)),
    toCell(run, parts ? { kind: 'difference', parts } : whole(run)),
  ];
  return {
    title: '',
    facts: [],
    reasons: [],
    measures: [],
    columns: [former, run].map(({ runId }) => ({ name: runId, totals: [] })),
    rows: [{ name: 'run', state, inputs: [], cells }],
  };
}

function runTitle({ runId, runStatus }: Run): string {
  return oneLine(`${runId} ${runStatus}`);
}

function comparedText({ outputs }: Run): string {
  return outputs
    .map(({ type, data }) => (type === 'text' ? dataText(data) : `${textOrNothing(type)}: ${dataText(data)}`))
    .join('\n');
}
