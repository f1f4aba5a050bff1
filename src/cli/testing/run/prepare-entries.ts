import { createHash } from 'node:crypto';
import type { Connection, Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { inputFault } from '../../inputs/check.ts';
import type { RunRequest } from '../../inputs/request-body.ts';
import { checkOptions } from '../../inputs/run-options.ts';
import { describeConfig } from '../../inputs/schema/describe.ts';
import { readVersion } from '../../inputs/target.ts';
import type { TestFile } from '../cases/read-test-file.ts';
import type { Entry } from '../result.ts';
import { VersionFinder } from './version-finder.ts';

/** An entry with what is sent for it. */
export interface PreparedEntry {
  readonly entry: Entry;
  readonly request: RunRequest;
  /** The same for equal cases, whatever their number or name. */
  readonly key: string;
  /** From 1; more where equal cases come before it, so that each repetition of each has a number of its own. */
  readonly firstRepetition: number;
}

/**
 * Finds what every case runs and checks its inputs and options; no run is created.
 *
 * @throws {CliError} USAGE_ERROR with file and line for what does not fit the prompt
 */
export async function prepareEntries(
  ctx: Context,
  connection: Connection,
  files: readonly TestFile[],
): Promise<PreparedEntry[]> {
  const versions = new VersionFinder(ctx, connection);
  const prepared: PreparedEntry[] = [];
  const next = new Map<string, number>();
  for (const file of files) {
    for (const testCase of file.cases) {
      for (const model of file.models) {
        const entry = { file, testCase, model };
        const request = await prepare(ctx, connection, versions, entry);
        const key = entryKey({ entry, request });
        const firstRepetition = next.get(key) ?? 1;
        next.set(key, firstRepetition + testCase.repeat);
        prepared.push({ entry, request, key, firstRepetition });
      }
    }
  }
  return prepared;
}

async function prepare(
  ctx: Context,
  connection: Connection,
  versions: VersionFinder,
  entry: Entry,
): Promise<RunRequest> {
  const { file, testCase, model } = entry;
  const { text, images, options } = testCase;
  try {
    const promptVersionId = await versions.find(file.target, model);
    const config = await configOf(ctx, connection, promptVersionId);
    const fault =
      config === undefined ? undefined : inputFault(describeConfig(config), { text, images: images.length });
    if (fault !== undefined) {
      throw fault;
    }
    await checkOptions(connection, options, ctx.signal);
    return { promptVersionId, text, images, options, ...(model !== undefined && { model }) };
  } catch (error) {
    throw located(entry, error);
  }
}

/** In a replay, a version that was not recorded is reported with the nearest recording once the run is asked for. */
async function configOf(ctx: Context, connection: Connection, promptVersionId: string): Promise<unknown> {
  const reading = readVersion(ctx, connection, { promptVersionId, mayBePrompt: true });
  const version =
    connection.recorder?.mode === 'replay' ? await reading.catch(() => undefined) : await reading;
  return version?.config;
}

function located({ file, testCase }: Entry, error: unknown): unknown {
  if (!(error instanceof CliError)) {
    return error;
  }
  const { message, status, exitCode, hints, data } = error;
  const where = `${file.name}, line ${testCase.line}: ${message}`;
  return status === 'USAGE_ERROR'
    ? usageError(where, ...hints)
    : new CliError(where, { status, exitCode, hints, data, cause: error });
}

/**
 * Identifies a case whatever its number or name: by target, model, inputs and options.
 */
export function entryKey({
  entry: { file, model },
  request,
}: Pick<PreparedEntry, 'entry' | 'request'>): string {
  const { text, images, options, promptVersionId } = request;
  const content = [
    file.target,
    promptVersionId,
    model ?? null,
    [...text].toSorted(byKey),
    images.map(image => (image.kind === 'url' ? image.url : image.sha256)),
    [...options].toSorted(byKey),
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function byKey([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other);
}
