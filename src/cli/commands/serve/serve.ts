import path from 'node:path';
import { isDirectory } from '../../../files/writing/write-below.ts';
import type { ServedRequest } from '../../../service/http/server.ts';
import type { RunEndEvent, Service, ServiceOptions } from '../../../service/service-options.ts';
import { withoutTrailingSlashes } from '../../../wire/addresses.ts';
import type { Context } from '../../context.ts';
import type { Clock } from '../../core/clock.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { parseDuration } from '../../core/durations.ts';
import { usageError } from '../../core/errors.ts';
import { findDatabaseUrl } from '../../targets/operator-store.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import type { SERVE } from './spec.ts';

type ServeFlags = FlagsOf<typeof SERVE.flags>;

type ServeSettings = Omit<ServiceOptions, 'dataDir' | 'onNotice' | 'onRequest' | 'onRunEnd'>;

const HOST_FORMAT = { pattern: /^[\w.:-]+$/, expected: 'a host name or address' };
const QUEUE_FORMAT = { pattern: /^\d{1,9}$/, expected: 'a whole number' };

/** Decimal numbers above 0, such as `0.5` and `20`. */
const RATE_FORMAT = { pattern: /^(?=.*[1-9])\d{1,9}(\.\d+)?$/, expected: 'a number above 0' };

/** Matches an address with a port, such as `127.0.0.1:9464` or `[::1]:9464`. */
const METRICS_ADDRESS = /^(?:\[(?<ipv6>[0-9a-f:.]+)\]|(?<name>[\w.-]+)):(?<port>\d{1,5})$/iu;

/** Serves the local service over HTTP until a signal ends it, which is a success. */
export async function serve(ctx: Context, flags: ServeFlags): Promise<void> {
  if (ctx.isReplay) {
    throw usageError("serve can't be replayed", 'Leave out --replay, and unset PROMPTRUN_REPLAY.');
  }

  const settings = readServeSettings(flags, ctx.cwd);
  const endSignalListener = listenForSignal(ctx);
  const databaseUrl = findDatabaseUrl(ctx, settings.databaseUrl);
  refuseSecondMediaStore(settings, databaseUrl);

  const { io, clock } = ctx;
  const service = await ctx.local.serve({
    ...settings,
    dataDir: ctx.dataDir,
    allowPrivate: ctx.globals.allowPrivate,
    databaseUrl,
    defaultModel: ctx.settings.get('model'),
    onNotice: line => reportNotice(ctx, line),
    onRequest: served => io.note(formatRequestLine(clock, served)),
    onRunEnd: run => io.note(formatRunLine(clock, run)),
  });

  const storeFlag = settings.databaseUrl === undefined ? '' : ' --database <url>';
  await announceService(ctx, service, {
    createKey: `promptrun keys create${storeFlag}`,
    logIn: `promptrun login --base-url ${settings.publicUrl ?? service.url}`,
  });

  await endSignalListener.signalled;
  const hadSecondSignal = settings.drainMs ? await drainService(ctx, service, flags.drain) : false;
  io.note(`Stopping; ${hadSecondSignal ? 'another' : 'a second'} signal stops it immediately.`);
  await service.close();
}

/** Refuses a media directory beside another store of media. @throws {CliError} USAGE_ERROR */
function refuseSecondMediaStore(
  { mediaDir, mediaBucketUrl }: ServeSettings,
  databaseUrl: string | undefined,
): void {
  if (mediaDir === undefined) return;
  if (databaseUrl === undefined) {
    throw usageError(
      '--media-dir needs --database: without a database, media are kept in the data directory',
    );
  }
  if (mediaBucketUrl !== undefined) {
    throw usageError("--media-dir and --media can't be used together: media are kept in one place");
  }
}

async function announceService(
  { io }: Context,
  { url, pageUrl, metricsUrl, newKey }: Service,
  { createKey, logIn }: { readonly createKey: string; readonly logIn: string },
): Promise<void> {
  await io.out(`listening on ${url}\n`);

  if (newKey === undefined) {
    io.note(`A key is printed only on the first start of a store. To create another: ${createKey}`);
  } else {
    await io.out(`key: ${newKey}\n`);
    io.note(`The key is not shown again. To use it: ${logIn}`);
  }

  if (pageUrl !== undefined) await io.out(`page: ${pageUrl}\n`);
  if (metricsUrl !== undefined) await io.out(`metrics: ${metricsUrl}\n`);
}

/**
 * Gives load balancers time to notice that this instance is about to stop.
 *
 * @returns true if a second signal ended the time early
 */
async function drainService(ctx: Context, service: Service, duration: string): Promise<boolean> {
  ctx.io.note(`Draining for ${duration}: /readyz answers 503; a second signal ends the draining.`);
  const drainStop = new AbortController();
  const { signalled, stopListening } = listenForSignal(ctx);
  void signalled.then(() => drainStop.abort());
  await service.drain(drainStop.signal);
  stopListening();
  return drainStop.signal.aborted;
}

interface SignalListener {
  /** Resolves when a signal arrives. */
  readonly signalled: Promise<void>;
  readonly stopListening: () => void;
}

/** Listens for one signal. A later one ends the process, unless something listens for it again. */
function listenForSignal(ctx: Context): SignalListener {
  let stopListening = (): void => {};
  const signalled = new Promise<void>(resolve => {
    stopListening = ctx.onInterrupt(() => {
      stopListening();
      resolve();
    });
  });
  return { signalled, stopListening };
}

/** Prints a notice. Warnings are printed even with `--quiet`. */
function reportNotice({ io }: Context, notice: string): void {
  if (notice.startsWith('warning:')) {
    io.error(toOneLine(notice));
  } else {
    io.note(toOneLine(notice));
  }
}

/** Reads and checks the flags. @throws {CliError} USAGE_ERROR naming the invalid flag */
function readServeSettings(flags: ServeFlags, cwd: string): ServeSettings {
  if (flags.newStore && flags.database !== undefined) {
    throw usageError(
      '--new-store is for the store in the data directory, --database for one in PostgreSQL',
    );
  }

  const { newStore, hideTemplates, allowPrograms, rerun } = flags;
  const rateLimit =
    flags.rateLimit === undefined
      ? undefined
      : Number(requireFormat('--rate-limit', flags.rateLimit, RATE_FORMAT));

  return {
    databaseUrl: flags.database,
    mediaBucketUrl: flags.media,
    servePage: flags.page,
    newStore,
    hideTemplates,
    allowPrograms,
    rerun,
    host: requireFormat('--host', flags.host, HOST_FORMAT),
    port: parsePort(flags.port),
    syncWindowMs: parseDuration(flags.syncWindow, '--sync-window'),
    graceMs: parseDuration(flags.grace, '--grace'),
    drainMs: parseDuration(flags.drain, '--drain'),
    maxQueuedRunsPerUser: Number(requireFormat('--max-queued', flags.maxQueued, QUEUE_FORMAT)),
    promptsDir:
      flags.prompts === undefined ? undefined : requireDirectory(flags.prompts, '--prompts', cwd),
    mediaDir:
      flags.mediaDir === undefined
        ? undefined
        : requireDirectory(flags.mediaDir, '--media-dir', cwd),
    rateLimit,
    metricsAddress: flags.metrics === undefined ? undefined : parseMetricsAddress(flags.metrics),
    publicUrl: flags.publicUrl === undefined ? undefined : parsePublicUrl(flags.publicUrl),
  };
}

interface ValueFormat {
  readonly pattern: RegExp;
  /** The pattern in words, for the message. */
  readonly expected: string;
}

function requireFormat(flag: string, text: string, { pattern, expected }: ValueFormat): string {
  if (pattern.test(text)) return text;
  throw usageError(`${flag}: '${text}' is not ${expected}`);
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usageError(
    `--port: '${text}' is not a port`,
    'A port is a whole number from 0 to 65535; 0 picks a free one.',
  );
}

function parseMetricsAddress(text: string): { host: string; port: number } {
  const { ipv6, name, port = '' } = METRICS_ADDRESS.exec(text)?.groups ?? {};
  const host = ipv6 ?? name;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw usageError(`--metrics: '${text}' is not an address such as 127.0.0.1:9464`);
}

function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const hasOnlyPath =
    url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (hasOnlyPath && /^https?:$/.test(url.protocol)) return withoutTrailingSlashes(url.href);
  throw usageError(
    `--public-url: '${text}' is not an http or https URL`,
    'Give one that others can use, with a path if necessary, such as https://host/base.',
  );
}

function requireDirectory(name: string, flag: string, cwd: string): string {
  const directory = path.resolve(cwd, name);
  if (isDirectory(directory)) return directory;
  throw usageError(`${flag}: ${name} is not a directory`);
}

/** Formats a request as one line: time, user, method, path, status, duration, traceparent. */
function formatRequestLine(clock: Clock, request: ServedRequest): string {
  const { user, method, httpStatus, durationMs, traceparent } = request;
  const event = `${method} ${request.path} ${httpStatus}`;
  const line = formatLogLine(clock, { user, event, durationMs });
  return traceparent === undefined ? line : `${line} traceparent=${traceparent}`;
}

/** Formats the end of a run as one line: time, user, id, status, duration. */
function formatRunLine(clock: Clock, { user, runId, status, durationMs }: RunEndEvent): string {
  return formatLogLine(clock, { user, event: `run ${runId} ${status}`, durationMs });
}

interface LoggedEvent {
  /** The user; undefined if unknown, which is a dash in the log. */
  readonly user: string | undefined;
  readonly event: string;
  readonly durationMs: number;
}

function formatLogLine(clock: Clock, { user, event, durationMs }: LoggedEvent): string {
  const time = new Date(clock.now()).toISOString();
  return toOneLine(`${time} ${user ?? '-'} ${event} ${Math.round(durationMs)}ms`);
}
