import path from 'node:path';
import { MEDIA_LIFETIME_MS, type Run } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import type { RunRequest } from '../inputs/request-body.ts';
import { safeFileName } from '../terminal/sanitise.ts';
import { type WrittenFile, writeWhole } from './write-file.ts';

/** What is known of how a run was made; little where it was made elsewhere. */
export interface RunFacts {
  readonly request?: RunRequest;
  readonly promptVersionId?: string;
  /** Milliseconds since the Unix epoch, by this machine's clock. */
  readonly startedAt?: number;
  /** When its end was learned. */
  readonly endedAt?: number;
}

/** Where the outputs of a run are saved. */
export interface SaveOptions {
  /** As the user gave it, relative to the working directory. */
  readonly directory: string;
  /** Overwrites files that exist. */
  readonly force: boolean;
  readonly facts: RunFacts;
}

export interface SavedFile extends WrittenFile {
  /** From 1, counting all outputs. */
  readonly output: number;
  readonly type: string;
  /** Of media. */
  readonly sourceUrl?: string;
}

/** Writes `<runId>.json`: where the files beside it come from, and what they hold. */
export async function writeManifest(
  ctx: Context,
  baseUrl: string,
  run: Run,
  files: readonly SavedFile[],
  { directory, force, facts }: SaveOptions,
): Promise<void> {
  const { request, startedAt, endedAt } = facts;
  const manifest = {
    baseUrl,
    runId: run.runId,
    runStatus: run.runStatus,
    promptVersionId: request?.promptVersionId ?? facts.promptVersionId ?? null,
    textInputs: request === undefined ? null : Object.fromEntries(request.text),
    imageInputs: request?.images.map(imageOf) ?? null,
    runOptions: request === undefined ? null : Object.fromEntries(request.options),
    startedAt: timeOf(startedAt),
    endedAt: timeOf(endedAt),
    savedAt: timeOf(ctx.clock.now()),
    files: files.map(file => fileOf(file, endedAt)),
  };
  const content = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
  const name = `${safeFileName(run.runId)}.json`;
  await writeWhole(path.resolve(ctx.cwd, directory), () => name, [content], force);
}

function imageOf(image: RunRequest['images'][number]): object {
  return image.kind === 'url'
    ? { url: image.url }
    : { name: path.basename(image.name), size: image.size, sha256: image.sha256 };
}

function fileOf({ name, output, type, sourceUrl, sha256, size }: SavedFile, endedAt?: number): object {
  return {
    name,
    output,
    type,
    ...(sourceUrl !== undefined && { sourceUrl }),
    sha256,
    size,
    ...(sourceUrl !== undefined && { urlExpiresAt: timeOf(expiryOf(sourceUrl, endedAt)) }),
  };
}

/** As a signed URL says it, else 24 hours after the run's end; undefined where neither is known. */
function expiryOf(url: string, endedAt: number | undefined): number | undefined {
  const query = URL.canParse(url) ? new URL(url).searchParams : new URLSearchParams();
  const seconds = Number(query.get('expires') ?? query.get('Expires') ?? Number.NaN);
  if (Number.isSafeInteger(seconds) && seconds > 1e9 && seconds < 1e11) return seconds * 1000;
  return endedAt === undefined ? undefined : endedAt + MEDIA_LIFETIME_MS;
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
