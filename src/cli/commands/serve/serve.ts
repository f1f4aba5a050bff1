import { statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import type { RequestEvent } from '../../../service/http/server.ts';
import type { RunEndEvent, Service, ServiceOptions } from '../../../service/service-options.ts';
import type { Context, Host } from '../../context.ts';
import { parseDuration } from '../../core/time.ts';
import type { Clock } from '../../core/types.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { DATABASE_OPTION, databaseUrl } from '../../settings/config/database.ts';
import { oneLine } from '../../terminal/sanitise.ts';

const EXAMPLES = `
The first line on standard output is "listening on http://…/v1"; the first start prints a key as well.
SIGTERM and Ctrl-C: no new requests, running runs are given --grace, the rest go on at the next start.

Examples:
  promptrun serve
  promptrun serve --port 0 --prompts ./prompts --rate-limit 5
  promptrun serve --host 0.0.0.0 --public-url https://prompts.example/team`;

export function declareServe(command: Command, host: Host, run = serve): void {
  command
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 picks a free one', '8787')
    .option('--sync-window <duration>', 'how long a creation is kept waiting for its run', '120s')
    .option('--prompts <dir>', 'publish the prompt files there, again on each change')
    .option('--rate-limit <n>', 'requests a second for each key; none without it')
    .option('--max-queued <n>', 'runs of one user that may be queued; over it 429', '10000')
    .option(...DATABASE_OPTION)
    .option('--media-dir <dir>', 'with --database: keep media in a directory that all instances share')
    .option('--new-store', 'put the store aside, and begin a new one beside it')
    .option('--public-url <url>', 'where others reach it: media URLs begin with it')
    .option('--grace <duration>', 'how long running runs are given at the end', '10s')
    .addHelpText('after', EXAMPLES)
    .action((flags: ServeFlags) => host.runAction(command, ctx => run(ctx, serveOptions(flags, ctx.cwd))));
}

type ServeRequest = Omit<ServiceOptions, 'dataDir' | 'onNotice' | 'onRequest' | 'onRunEnd'>;

/** Offers the local service over HTTP until a signal ends it; ending is not a fault. */
export async function serve(ctx: Context, request: ServeRequest): Promise<ExitCode> {
  const ending = firstSignal(ctx);
  const { io, clock } = ctx;
  const database = databaseUrl(ctx, request.database);
  if (request.mediaDir !== undefined && database === undefined) {
    throw usageError('--media-dir goes with --database: without it media lies in the data directory');
  }
  const running = await ctx.local.serve({
    ...request,
    dataDir: ctx.dataDir,
    database,
    onNotice: line => showNotice(ctx, line),
    onRequest: served => io.note(requestLine(clock, served)),
    onRunEnd: run => io.note(runLine(clock, run)),
  });
  await announce(ctx, running);
  await ending;
  ctx.io.note('Ending; a second signal ends it at once.');
  await running.close();
  return EXIT.ok;
}

async function announce({ io }: Context, { url, newKey }: Service): Promise<void> {
  await io.out(`listening on ${url}\n`);
  if (newKey === undefined) return;
  await io.out(`key: ${newKey}\n`);
  io.note(`The key is not shown again. To use it: promptrun login --base-url ${url}`);
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

/** Warnings are shown in spite of `--quiet`. */
function showNotice({ io }: Context, notice: string): void {
  if (notice.startsWith('warning:')) io.error(oneLine(notice));
  else io.note(oneLine(notice));
}

/** The flags of `serve` as typed. */
export interface ServeFlags {
  readonly host: string;
  readonly port: string;
  readonly syncWindow: string;
  readonly prompts?: string;
  readonly rateLimit?: string;
  readonly maxQueued: string;
  readonly database?: string;
  readonly mediaDir?: string;
  readonly newStore?: boolean;
  readonly publicUrl?: string;
  readonly grace: string;
}

/** @throws {CliError} USAGE_ERROR naming the flag that is wrong */
function serveOptions(flags: ServeFlags, cwd: string): ServeRequest {
  if (flags.newStore && flags.database !== undefined) {
    throw usageError('--new-store is for the store in the data directory, --database for one in PostgreSQL');
  }
  return {
    host: host(flags.host),
    port: port(flags.port),
    syncWindowMs: parseDuration(flags.syncWindow, '--sync-window'),
    graceMs: parseDuration(flags.grace, '--grace'),
    maxQueued: wholeNumber(flags.maxQueued, '--max-queued'),
    newStore: flags.newStore ?? false,
    ...(flags.database === undefined ? {} : { database: flags.database }),
    ...(flags.prompts === undefined ? {} : { promptsDir: directory(flags.prompts, '--prompts', cwd) }),
    ...(flags.mediaDir === undefined ? {} : { mediaDir: directory(flags.mediaDir, '--media-dir', cwd) }),
    ...(flags.rateLimit === undefined ? {} : { rateLimit: rate(flags.rateLimit) }),
    ...(flags.publicUrl === undefined ? {} : { publicUrl: publicUrl(flags.publicUrl) }),
  };
}

function host(text: string): string {
  if (/^[\w.:-]+$/.test(text)) return text;
  throw usageError(`--host: '${text}' is not a host name or address`);
}

function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usageError(
    `--port: '${text}' is not a port`,
    'A port is a whole number from 0 to 65535; 0 picks a free one.',
  );
}

function rate(text: string): number {
  if (/^\d{1,9}(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
  throw usageError(`--rate-limit: '${text}' is not a number above 0`);
}

function wholeNumber(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usageError(`${flag}: '${text}' is not a whole number`);
}

function publicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (plain && /^https?:$/.test(url.protocol)) return url.href.replace(/(?<!\/)\/+$/, '');
  throw usageError(
    `--public-url: '${text}' is not a URL that others could call`,
    'It is http or https, and may end in a path, such as https://host/base.',
  );
}

function directory(given: string, flag: string, cwd: string): string {
  const found = path.resolve(cwd, given);
  if (statSync(found, { throwIfNoEntry: false })?.isDirectory()) return found;
  throw usageError(`${flag}: ${given} is not a directory`);
}

/** A request as one line: time, user, method, path, status, duration. */
function requestLine(clock: Clock, request: RequestEvent): string {
  const { user, method, path, httpStatus, durationMs } = request;
  return logLine(clock, user, `${method} ${path} ${httpStatus}`, durationMs);
}

/** The end of a run as one line: time, user, id, status, duration. */
export function runLine(clock: Clock, { user, runId, status, durationMs }: RunEndEvent): string {
  return logLine(clock, user, `run ${runId} ${status}`, durationMs);
}

/** A user who is not known is a dash. */
function logLine(clock: Clock, user: string | undefined, what: string, durationMs: number): string {
  const time = new Date(clock.now()).toISOString();
  return oneLine(`${time} ${user ?? '-'} ${what} ${Math.round(durationMs)}ms`);
}
