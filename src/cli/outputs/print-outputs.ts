import { formatOutputData, toTextOrEmpty } from '../../files/formats/json-fields.ts';
import { isMedia, OUTPUT_TYPES, type OutputItem, type Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { pluralize } from '../core/pluralize.ts';
import { linkFile, linkUrl } from '../terminal/hyperlink.ts';
import { escapeControls, toOneLine } from '../terminal/sanitise.ts';
import { formatReason } from './run-errors.ts';

export interface PrintOptions {
  /** The path of each saved output. */
  readonly paths: readonly (string | undefined)[];
  readonly allowsPreview: boolean;
  /** The part of the first text that was already streamed. */
  readonly streamedText?: string | undefined;
}

/**
 * Prints results to standard output, in order, and everything else about the run to standard error.
 */
export async function printOutputs(
  ctx: Context,
  connection: Connection,
  run: Run,
  options: PrintOptions,
): Promise<void> {
  let { streamedText = '' } = options;
  for (const [index, item] of run.outputs.entries()) {
    const path = options.paths[index];
    if (item.type === 'error') {
      printFault(ctx, run, item);
    } else if (isMedia(item)) {
      await printMedia(ctx, connection, item, path, options);
    } else {
      await printText(ctx, formatOutputData(item.data), item.type === 'text' ? streamedText : '');
      if (item.type === 'text') {
        streamedText = '';
      } else {
        noteUnknownType(ctx, item, index + 1);
      }
    }
    if (path !== undefined && !isMedia(item)) ctx.io.note(`note: saved to ${path}`);
  }
  printFailure(ctx, run);
}

/** Prints a run's faults to standard error: its `error` items, and that it failed. */
export function printFaults(ctx: Context, run: Run): void {
  for (const item of run.outputs.filter(({ type }) => type === 'error')) printFault(ctx, run, item);
  printFailure(ctx, run);
}

/** Prints an `error` item; in red only if the run failed. */
function printFault({ io }: Context, { runStatus }: Run, item: OutputItem): void {
  const data = formatReason(item.data);
  const paint = runStatus === 'succeeded' ? io.paintErr.yellow : io.paintErr.red;
  io.error(`${paint('error:')} ${io.stderr.isTerminal ? escapeControls(data) : data}`);
}

/**
 * Prints how a run with errors ended, with the id of a failed run, so that it can be shown later.
 */
function printFailure({ io }: Context, { runStatus, runId, outputs }: Run): void {
  const errorCount = outputs.filter(item => item.type === 'error').length;
  if (runStatus === 'succeeded' && errorCount > 0 && io.stderr.isTerminal) {
    io.note(`note: the run succeeded, but ${pluralize(errorCount, 'part')} of it failed`);
  }

  if (runStatus !== 'failed') return;

  if (errorCount > 0) {
    io.note(`note: run ${toOneLine(runId)} failed`);
  } else {
    io.error(`${io.paintErr.red('error:')} run ${toOneLine(runId)} failed`);
  }
}

async function printMedia(
  ctx: Context,
  connection: Connection,
  { type, data }: OutputItem,
  path: string | undefined,
  { allowsPreview }: { readonly allowsPreview: boolean },
): Promise<void> {
  if (allowsPreview && type === 'image' && ctx.io.stdout.isTerminal) {
    const { showPreview } = await import('./image-preview.ts');
    await showPreview(ctx, connection, data, path);
  }
  const allowsFileUrls = connection.isEmbedded && connection.recorder === undefined;
  const link = path === undefined ? linkUrl(ctx, data, { allowsFileUrls }) : linkFile(ctx, path);
  await ctx.io.out(`${link}\n`);
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(OUTPUT_TYPES);

function noteUnknownType({ io }: Context, { type }: OutputItem, number: number): void {
  if (KNOWN_TYPES.has(type)) return;
  io.note(`note: output ${number} has unknown type ${toOneLine(toTextOrEmpty(type))}`);
}

/**
 * Prints a text: piped, its exact bytes, plus a newline at the end if it lacks one. Of a streamed
 * text, prints only the rest, unless the final text differs.
 */
async function printText({ io }: Context, text: string, printedText: string): Promise<void> {
  const isSame = text.startsWith(printedText);
  if (!isSame && !printedText.endsWith('\n')) await io.out('\n');
  const remainingText = isSame ? text.slice(printedText.length) : text;
  const shownText = io.stdout.isTerminal ? escapeControls(remainingText) : remainingText;
  await io.out(text.endsWith('\n') ? shownText : `${shownText}\n`);
}
