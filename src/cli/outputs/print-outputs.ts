import { isMedia, OUTPUT_TYPES, type OutputItem, type Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { fieldText } from '../core/json-value.ts';
import { linkedFile, linkedUrl } from '../terminal/hyperlink.ts';
import { oneLine, visible } from '../terminal/sanitise.ts';

export interface PrintOptions {
  /** Where each output was saved. */
  readonly paths: readonly (string | undefined)[];
  readonly preview: boolean;
  /** What was printed of the first text while it was made. */
  readonly printed?: string | undefined;
}

/** Prints results to standard output, in order, and everything else about them to standard error. */
export async function printOutputs(
  ctx: Context,
  connection: Connection,
  run: Run,
  options: PrintOptions,
): Promise<void> {
  let { printed = '' } = options;
  for (const [index, item] of run.outputs.entries()) {
    if (item.type === 'error') printFault(ctx, item);
    else if (item.type === 'text' && printed !== '') {
      await printRest(ctx, fieldText(item.data), printed);
      printed = '';
    } else {
      await printOutput(ctx, connection, item, {
        number: index + 1,
        path: options.paths[index],
        preview: options.preview,
      });
    }
    const path = options.paths[index];
    if (path !== undefined && !isMedia(item)) ctx.io.note(`note: saved to ${path}`);
  }
  printFailure(ctx, run);
}

/** Prints what went wrong in a run to standard error: its `error` items, and that it failed. */
export function printFaults(ctx: Context, run: Run): void {
  for (const item of run.outputs.filter(({ type }) => type === 'error')) printFault(ctx, item);
  printFailure(ctx, run);
}

function printFault({ io }: Context, item: OutputItem): void {
  const data = fieldText(item.data);
  io.error(`${io.paintErr.red('error:')} ${io.stderr.isTerminal ? visible(data) : data}`);
}

/** A failed run names its id, so that it can be looked at later. */
function printFailure({ io }: Context, { runStatus, runId, outputs }: Run): void {
  if (runStatus !== 'failed') return;
  if (outputs.some(item => item.type === 'error')) io.note(`note: run ${oneLine(runId)} failed`);
  else io.error(`${io.paintErr.red('error:')} run ${oneLine(runId)} failed`);
}

async function printOutput(
  ctx: Context,
  connection: Connection,
  item: OutputItem,
  { number, path, preview }: { number: number; path: string | undefined; preview: boolean },
): Promise<void> {
  const data = fieldText(item.data);
  if (isMedia(item)) {
    if (preview) await showPreview(ctx, connection, item, path);
    const shown =
      path === undefined
        ? linkedUrl(ctx, data, connection.embedded && connection.recorder === undefined)
        : linkedFile(ctx, path);
    await ctx.io.out(`${shown}\n`);
  } else {
    await printText(ctx, data);
    if (!KNOWN_TYPES.has(item.type)) {
      ctx.io.note(
        `note: output ${number} is of a type that is not known here: ${oneLine(fieldText(item.type))}`,
      );
    }
  }
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(OUTPUT_TYPES);

/** Exactly as it came when piped, with a newline at the end where it lacks one. */
async function printText(ctx: Context, text: string): Promise<void> {
  const shown = ctx.io.stdout.isTerminal ? visible(text) : text;
  await ctx.io.out(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** The rest of a text that was printed while it was made; all of it where it came out otherwise. */
async function printRest(ctx: Context, text: string, printed: string): Promise<void> {
  if (!text.startsWith(printed)) {
    await ctx.io.out(printed.endsWith('\n') ? '' : '\n');
    return printText(ctx, text);
  }
  const rest = visible(text.slice(printed.length));
  await ctx.io.out(text.endsWith('\n') ? rest : `${rest}\n`);
}

async function showPreview(
  ctx: Context,
  connection: Connection,
  item: OutputItem,
  path: string | undefined,
): Promise<void> {
  if (item.type !== 'image' || !ctx.io.stdout.isTerminal) return;
  const { preview } = await import('./preview.ts');
  await preview(ctx, connection, item.data, path);
}
