import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { fieldText } from '../../core/json-value.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { differences as differencesOf } from '../../outputs/differences.ts';
import { present } from '../../outputs/present.ts';
import { oneLine, visible } from '../../terminal/sanitise.ts';
import { markedPart } from '../../testing/compare/comparison.ts';

/** Shows a run beside the former one, with their differences; the exit code is the new one's. */
export async function compareWithFormer(
  ctx: Context,
  { client }: Connection,
  formerId: string,
  run: Run,
): Promise<ExitCode> {
  const former = await client.runs.get(formerId, { signal: ctx.signal });
  const [before, after] = [textOf(former), textOf(run)];
  const same = before === after;
  await present(
    ctx,
    { before: former, after: run, same },
    {
      terminal: async () =>
        [
          ...sideBySide(ctx, [titleOf(former), before], [titleOf(run), after]),
          '',
          same ? 'no differences' : await differences(ctx, before, after),
        ].join('\n'),
      plain: async () =>
        [titleOf(former), before, titleOf(run), after, same ? 'no differences' : 'differences:']
          .concat(same ? [] : [await differences(ctx, before, after)])
          .join('\n'),
    },
  );
  return run.runStatus === 'failed' ? EXIT.runFailed : EXIT.ok;
}

function titleOf({ runId, runStatus }: Run): string {
  return oneLine(`${runId} ${runStatus}`);
}

function textOf({ outputs }: Run): string {
  return outputs
    .map(({ type, data }) => (type === 'text' ? fieldText(data) : `${fieldText(type)}: ${fieldText(data)}`))
    .join('\n');
}

async function differences({ io }: Context, before: string, after: string): Promise<string> {
  const parts = await differencesOf(before, after, 'words');
  return parts.map(part => markedPart(part, io.paint)).join('');
}

const GAP = ' │ ';

/** Two texts in columns of one width, each below its title. */
function sideBySide(
  { io }: Context,
  [leftTitle, left]: readonly [string, string],
  [rightTitle, right]: readonly [string, string],
): string[] {
  const width = Math.max(20, Math.floor((io.stdout.columns - GAP.length) / 2));
  const columns = [
    [leftTitle.slice(0, width), ...wrapped(left, width)],
    [rightTitle.slice(0, width), ...wrapped(right, width)],
  ] as const;
  const count = Math.max(columns[0].length, columns[1].length);
  return Array.from({ length: count }, (_, at) => {
    const cell = columns[0][at] ?? '';
    const blanks = ' '.repeat(Math.max(0, width - stringWidth(cell)));
    return `${cell}${blanks}${GAP}${columns[1][at] ?? ''}`.trimEnd();
  });
}

function wrapped(text: string, width: number): string[] {
  return wrapAnsi(visible(text), width, { hard: true, trim: false }).split('\n');
}
