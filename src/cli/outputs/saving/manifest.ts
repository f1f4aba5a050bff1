import path from 'node:path';
import { MEDIA_LIFETIME_MS, type Run } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import type { RunRequest } from '../../inputs/request-body.ts';
import { toSafeFileName } from '../../terminal/sanitise.ts';
import { type WrittenFile, writeWhole } from './write-file.ts';

/** Facts about a run's creation; incomplete if another machine created it. */
export interface RunFacts {
  readonly request?: RunRequest;
  readonly promptVersionId?: string;
  /** The start by this machine's clock, in milliseconds since the Unix epoch. */
  readonly startedAt?: number;
  /** The time at which this machine learned of the end, in the same form. */
  readonly endedAt?: number;
}

/** Options for saving the outputs of a run. */
export interface SaveOptions {
  /** The directory as the user gave it, relative to the working directory. */
  readonly directory: string;
  /** True to overwrite existing files. */
  readonly force: boolean;
  readonly facts: RunFacts;
}

export interface SavedFile extends WrittenFile {
  /** The number of the output, from 1. */
  readonly output: number;
  readonly type: string;
  readonly sourceUrl?: string;
}

interface ManifestSource {
  /** The base URL of the service that made the run. */
  readonly baseUrl: string;
  readonly run: Run;
  readonly files: readonly SavedFile[];
}

/** Writes the manifest `<runId>.json`: the origin and the content of the files next to it. */
export async function writeManifest(
  ctx: Context,
  { baseUrl, run, files }: ManifestSource,
  { directory, force, facts }: SaveOptions,
): Promise<void> {
  const { request, startedAt, endedAt } = facts;
  const manifest = {
    baseUrl,
    runId: run.runId,
    runStatus: run.runStatus,
    promptVersionId: request?.promptVersionId ?? facts.promptVersionId ?? null,
    textInputs: request === undefined ? null : Object.fromEntries(request.text),
    imageInputs: request?.images.map(toManifestImage) ?? null,
    runOptions: request === undefined ? null : Object.fromEntries(request.options),
    startedAt: formatIsoTime(startedAt),
    endedAt: formatIsoTime(endedAt),
    savedAt: formatIsoTime(ctx.clock.now()),
    files: files.map(file => toManifestFile(file, endedAt)),
  };
  const content = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
  const name = `${toSafeFileName(run.runId)}.json`;
  await writeWhole(path.resolve(ctx.cwd, directory), () => name, [content], { force });
}

function toManifestImage(image: RunRequest['images'][number]): object {
  return image.kind === 'url'
    ? { url: image.url }
    : { name: path.basename(image.name), size: image.size, sha256: image.sha256 };
}

function toManifestFile(
  { name, output, type, sourceUrl, sha256, size }: SavedFile,
  endedAt?: number,
): object {
  return {
    name,
    output,
    type,
    ...(sourceUrl !== undefined && { sourceUrl }),
    sha256,
    size,
    ...(sourceUrl !== undefined && {
      urlExpiresAt: formatIsoTime(findUrlExpiry(sourceUrl, endedAt)),
    }),
  };
}

/**
 * Returns the expiry in a signed URL, else 24 hours after the run's end; undefined if neither is
 * known.
 */
function findUrlExpiry(url: string, endedAt: number | undefined): number | undefined {
  const query = URL.canParse(url) ? new URL(url).searchParams : new URLSearchParams();
  const seconds = Number(query.get('expires') ?? query.get('Expires') ?? Number.NaN);
  // Other services count from now, or in milliseconds.
  const isUnixTime = Number.isSafeInteger(seconds) && seconds > 1e9 && seconds < 1e11;
  if (isUnixTime) return seconds * 1000;
  return endedAt === undefined ? undefined : endedAt + MEDIA_LIFETIME_MS;
}

function formatIsoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
