import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { counted } from '../../core/counted.ts';
import { dataText, fieldText } from '../../core/json-value.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { differences } from '../../outputs/differences.ts';
import type { Grid, GridCell } from '../../outputs/pages/grid.ts';
import { gridTable, paintedDifference } from '../../outputs/pages/grid-terminal.ts';
import { present } from '../../outputs/present.ts';
import { exitCodeOfRun } from '../../outputs/provider-fault.ts';
import { oneLine } from '../../terminal/sanitise.ts';

/** Shows a run and the former one side by side, with their differences; the exit code is that of the new run. */
export async function compareWithFormer(
  ctx: Context,
  connection: Connection,
  former: Run,
  run: Run,
): Promise<ExitCode> {
  const [before, after] = [comparedText(former), comparedText(run)];
  const same = before === after;
  const parts = await differences(ctx, before, after, 'words');
  const result = same ? 'no differences' : 'differences:';
  const state = same ? 'same' : 'changed';
  const cells = [former, run].map(
    ({ runStatus, tokens }, at): GridCell => ({
      state,
      facts: [runStatus, counted(tokens, 'token')],
      parts: [
        at === 0 || same ? { kind: 'text', text: at === 0 ? before : after } : { kind: 'difference', parts },
      ],
    }),
  );
  const grid: Grid = {
    title: '',
    facts: [],
    reasons: [],
    measures: [],
    columns: [former, run].map(({ runId }) => ({ name: runId, totals: [] })),
    rows: [{ name: 'run', state, inputs: [], cells }],
  };
  await present(
    ctx,
    { before: former, after: run, same },
    {
      terminal: () => gridTable(ctx.io, grid, { isWhole: true }),
      plain: () =>
        [
          runTitle(former),
          before,
          runTitle(run),
          after,
          result,
          ...(same ? [] : [paintedDifference(parts, ctx.io.paint)]),
        ].join('\n'),
    },
  );
  return exitCodeOfRun(connection, run);
}

function runTitle({ runId, runStatus }: Run): string {
  return oneLine(`${runId} ${runStatus}`);
}

function comparedText({ outputs }: Run): string {
  return outputs
    .map(({ type, data }) => (type === 'text' ? dataText(data) : `${fieldText(type)}: ${dataText(data)}`))
    .join('\n');
}
