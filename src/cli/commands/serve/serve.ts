import type { Command } from 'commander';
import type { Host } from '../../command.ts';
import type { Context, RunningService, ServeOptions } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { oneLine } from '../../outputs/sanitise.ts';
import { type ServeFlags, serveOptions } from './serve-options.ts';

const EXAMPLES = `
The first line on standard output is "listening on http://…/v1"; the first start prints a key as well.
SIGTERM and Ctrl-C: no new requests, running runs are given --grace, the rest go on at the next start.

Examples:
  promptrun serve
  promptrun serve --port 0 --prompts ./prompts --rate-limit 5`;

export function declareServe(command: Command, host: Host, run = serve): void {
  command
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 picks a free one', '8787')
    .option('--sync-window <duration>', 'how long a creation is kept waiting for its run', '120s')
    .option('--prompts <dir>', 'publish the prompt files there, again on each change')
    .option('--rate-limit <n>', 'requests a second for each key; none without it')
    .option('--grace <duration>', 'how long running runs are given at the end', '10s')
    .addHelpText('after', EXAMPLES)
    .action((flags: ServeFlags) => host.act(command, ctx => run(ctx, serveOptions(flags, ctx.cwd))));
}

export type ServeRequest = Omit<ServeOptions, 'dataDir' | 'onNotice'>;

/** Offers the local service over HTTP until a signal ends it; ending is no fault. */
export async function serve(ctx: Context, request: ServeRequest): Promise<ExitCode> {
  const ending = firstSignal(ctx);
  const onNotice = (line: string): void => tell(ctx, line);
  const running = await ctx.local.serve({ ...request, dataDir: ctx.dataDir, onNotice });
  await announce(ctx, running);
  await ending;
  ctx.io.note('Ending; a second signal ends it at once.');
  await running.close();
  return EXIT.ok;
}

async function announce({ io }: Context, { baseUrl, newKey }: RunningService): Promise<void> {
  await io.out(`listening on ${baseUrl}\n`);
  if (newKey === undefined) return;
  await io.out(`key: ${newKey}\n`);
  io.note(`The key is not shown again. To use it: promptrun login --base-url ${baseUrl}`);
}

/** Resolves at the first signal; the next one is for the system. */
function firstSignal(ctx: Context): Promise<void> {
  return new Promise(resolve => {
    const handBack = ctx.onInterrupt(() => {
      handBack();
      resolve();
    });
  });
}

/** Warnings are told in spite of `--quiet`. */
function tell({ io }: Context, notice: string): void {
  if (notice.startsWith('warning:')) io.error(oneLine(notice));
  else io.note(oneLine(notice));
}
