import { createHash } from 'node:crypto';
import type { Connection, Context } from '../../context.ts';
import { failureOf } from '../../core/failure.ts';
import { byKey } from '../../core/json-value.ts';
import type { Budget } from '../../creation/budget.ts';
import { checkModelAccess } from '../../creation/creation.ts';
import { CaseFault, CliError } from '../../errors.ts';
import { describeConfig } from '../../inputs/describe-config.ts';
import { checkOptions } from '../../inputs/flags.ts';
import type { ImageSource } from '../../inputs/images/image-source.ts';
import { checkedInputs, type RunInputs, takeNamedImages } from '../../inputs/images/place-images.ts';
import { imagesNamedIn } from '../../inputs/named-file.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { providerOf } from '../../jobs/provider-batch/batch-session.ts';
import { type VersionWanted, withLocalStore } from '../../targets/prompt-file.ts';
import { type ResolvedTarget, readVersion, resolveTarget } from '../../targets/target.ts';
import type { TestCase, TestedModel, TestFile } from '../cases/test-case.ts';
import type { Entry, FileFault } from '../result.ts';

/** An entry with what is sent for it. */
export interface PreparedEntry {
  readonly entry: Entry;
  /** To the service that runs it. */
  readonly connection: Connection;
  readonly request: RunRequest;
  /** What the service's search says that a run is expected to take. */
  readonly estimatedCredits: unknown;
  /** The same for equal cases, whatever their number or name. */
  readonly key: string;
  /** From 1; more where equal cases come before it, so that each repetition of each has a number of its own. */
  readonly firstRepetition: number;
}

/**
 * Finds what every case runs and checks its inputs and options; no run is created. What does not fit is a fault of its
 * whole file, of which nothing is sent then.
 */
export async function prepareEntries(
  ctx: Context,
  connectionOf: (target: string) => Promise<Connection>,
  files: readonly TestFile[],
): Promise<{ readonly entries: readonly PreparedEntry[]; readonly faults: readonly FileFault[] }> {
  const entries: PreparedEntry[] = [];
  const faults: FileFault[] = [];
  const counts = new Map<string, number>();
  for (const file of files) {
    try {
      const connection = await connectionOf(file.target);
      for (const entry of await entriesOf(ctx, connection, file)) {
        const key = entryKey(entry);
        const firstRepetition = counts.get(key) ?? 1;
        counts.set(key, firstRepetition + entry.entry.testCase.repeat);
        entries.push({ ...entry, connection, key, firstRepetition });
      }
    } catch (error) {
      ctx.signal.throwIfAborted();
      faults.push({ file: file.file, name: file.name, fault: failureOf(error) });
    }
  }
  return { entries, faults };
}

/** @throws {CliError} CONFIG_ERROR for a version whose model has no price, under `--max-cost` */
export async function checkPrices(budget: Budget, entries: readonly PreparedEntry[]): Promise<void> {
  const oneOfEach = new Map(entries.map(entry => [entry.request.promptVersionId, entry]));
  for (const { connection, request } of oneOfEach.values()) {
    await budget.checkPrice(connection, buildRunBody(request));
  }
}

/** @throws {CliError} USAGE_ERROR for a version whose model can't be asked in a batch of its provider */
export async function checkBatches(entries: readonly PreparedEntry[]): Promise<void> {
  const oneOfEach = new Map(entries.map(entry => [entry.request.promptVersionId, entry]));
  for (const { connection, request } of oneOfEach.values()) {
    await providerOf(connection, request.promptVersionId);
  }
}

type EntryRequest = Pick<PreparedEntry, 'entry' | 'request' | 'estimatedCredits'>;

async function entriesOf(ctx: Context, connection: Connection, file: TestFile): Promise<EntryRequest[]> {
  const entries: EntryRequest[] = [];
  const versions = new Map<TestedModel | undefined, TestedVersion>();
  for (const testCase of file.cases) {
    for (const tested of file.models) {
      const { model } = tested;
      entries.push(await prepare(ctx, connection, versions, { file, testCase, model, tested }));
    }
  }
  return entries;
}

/** A version, with what it says of its inputs if that is known. */
type TestedVersion = Awaited<ReturnType<typeof versionOf>>;

/** @throws {CliError} that names the case, for what is a fault of the whole file */
async function prepare(
  ctx: Context,
  connection: Connection,
  versions: Map<TestedModel | undefined, TestedVersion>,
  entry: Entry,
): Promise<EntryRequest> {
  const { file, testCase, model, tested } = entry;
  const { options } = testCase;
  try {
    const version = versions.get(tested) ?? (await versionOf(ctx, connection, file, { ...tested, model }));
    versions.set(tested, version);
    const { promptVersionId, estimatedCredits, config } = version;
    const inputs = await placedInputs(ctx, testCase, config);
    await checkOptions(ctx, connection, promptVersionId, options);
    const request = { promptVersionId, ...inputs, options, ...(model !== undefined && { model }) };
    return { entry, request, estimatedCredits };
  } catch (error) {
    const fault = located(entry, error);
    if (!(error instanceof CaseFault)) throw fault;
    return prepare(ctx, connection, versions, { ...entry, testCase: { ...testCase, fault } });
  }
}

/** In a replay, a version that was not recorded is reported with the nearest recording once the run is asked for. */
async function versionOf(
  ctx: Context,
  connection: Connection,
  { target, prompt }: TestFile,
  { model, config }: VersionWanted,
): Promise<{
  readonly promptVersionId: string;
  readonly estimatedCredits: unknown;
  readonly config: unknown;
}> {
  const resolved =
    prompt === undefined
      ? await resolveTarget(ctx, connection, target, { source: 'elsewhere', model, config })
      : await resolveText(ctx, { name: target, text: prompt }, { model, config });
  const reading = readVersion(ctx, connection, resolved);
  const isOptional = connection.recorder?.mode === 'replay' && !resolved.mayBePrompt;
  const version = isOptional ? await reading.catch(() => undefined) : await reading;
  const promptVersionId = version?.promptVersionId ?? resolved.promptVersionId;
  await checkModelAccess(connection, promptVersionId);
  return { promptVersionId, estimatedCredits: resolved.estimatedCredits, config: version?.config };
}

async function placedInputs(
  ctx: Context,
  { text, images, folder, fault }: TestCase,
  config: unknown,
): Promise<RunInputs<ImageSource>> {
  if (fault !== undefined) return { text, images: [] };
  const fields = describeConfig(config);
  const finder = imagesNamedIn(ctx, folder ?? { cwd: ctx.cwd, allowOutside: false });
  return checkedInputs(fields, await takeNamedImages(fields, { text, images }, finder));
}

/** The version of a prompt that stands in no file of its own. */
async function resolveText(
  ctx: Context,
  { name, text }: { readonly name: string; readonly text: string },
  { model, config }: VersionWanted,
): Promise<ResolvedTarget> {
  const wanted = { file: name, text, ...(model !== undefined && { model }), config };
  const { promptVersionId } = await withLocalStore(ctx, store => store.ensureUnlistedVersion(wanted));
  return { promptVersionId, mayBePrompt: false };
}

function located({ file, testCase }: Entry, error: unknown): CliError {
  const { message, status, exitCode, hints, data } = failureOf(error);
  const where = `${file.name}:${testCase.line}: ${message}`;
  return new CliError(where, { status, exitCode, hints, data, cause: error });
}

/** Identifies a case whatever its number or name: by target, model, inputs and options. */
function entryKey({ entry: { file, model }, request }: EntryRequest): string {
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
