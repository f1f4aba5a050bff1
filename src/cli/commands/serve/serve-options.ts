import { statSync } from 'node:fs';
import path from 'node:path';
import { parseDuration } from '../../duration.ts';
import { usageError } from '../../errors.ts';
import type { ServeRequest } from './serve.ts';

/** The flags of `serve` as typed. */
export interface ServeFlags {
  readonly host: string;
  readonly port: string;
  readonly syncWindow: string;
  readonly prompts?: string;
  readonly rateLimit?: string;
  readonly grace: string;
}

/** @throws {CliError} USAGE_ERROR naming the flag that is wrong */
export function serveOptions(flags: ServeFlags, cwd: string): ServeRequest {
  return {
    host: host(flags.host),
    port: port(flags.port),
    syncWindowMs: parseDuration(flags.syncWindow, '--sync-window'),
    graceMs: parseDuration(flags.grace, '--grace'),
    ...(flags.prompts === undefined ? {} : { promptsDir: directory(flags.prompts, cwd) }),
    ...(flags.rateLimit === undefined ? {} : { rateLimit: rate(flags.rateLimit) }),
  };
}

function host(text: string): string {
  if (/^[\w.:-]+$/.test(text)) return text;
  throw usageError(`--host: '${text}' is no host name or address`);
}

function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usageError(
    `--port: '${text}' is no port`,
    'A port is a whole number from 0 to 65535; 0 picks a free one.',
  );
}

function rate(text: string): number {
  if (/^\d{1,9}(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
  throw usageError(`--rate-limit: '${text}' is no number above 0`);
}

function directory(given: string, cwd: string): string {
  const found = path.resolve(cwd, given);
  if (statSync(found, { throwIfNoEntry: false })?.isDirectory()) return found;
  throw usageError(`--prompts: ${given} is no directory`);
}
