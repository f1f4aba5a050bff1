import { createHash } from 'node:crypto';
import type { Connection, Context } from '../../context.ts';
import { failureOf } from '../../core/failure.ts';
import { byKey } from '../../core/json-value.ts';
import type { Budget } from '../../creation/budget.ts';
import { checkModelAccess } from '../../creation/creation.ts';
import { CaseFault, CliError, usageError } from '../../errors.ts';
import { describeConfig } from '../../inputs/describe-config.ts';
import { checkOptions } from '../../inputs/flags.ts';
import type { ImageSource } from '../../inputs/images/image-source.ts';
import { checkedInputs, type PlacedInputs, takeNamedImages } from '../../inputs/images/place-images.ts';
import { imagesNamedIn } from '../../inputs/named-file.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { batchProviderOf } from '../../jobs/provider-batch/batch-session.ts';
import { type VersionOverrides, withLocalStore } from '../../targets/prompt-file.ts';
import { type ResolvedTarget, readVersion, resolveTarget } from '../../targets/target.ts';
import type { TestCase, TestedModel, TestFile } from '../cases/test-case.ts';
import type { FaultyTestFile, TestEntry } from '../result.ts';
import { modelDeclaration } from './model-declaration.ts';

/** An entry with its request. */
export interface PreparedEntry {
  readonly entry: TestEntry;
  /** The connection to the service that runs it. */
  readonly connection: Connection;
  readonly request: RunRequest;
  /** The estimate in the service's search results. */
  readonly estimatedCredits: unknown;
  /** The entry of its model in the configuration, as JSON; undefined if that declares no such model. */
  readonly declaration: string | undefined;
  /** A key that equal cases share, regardless of their number or name. */
  readonly key: string;
  /** The number of its first repetition: 1, or more after equal cases, so that all repetitions have different numbers. */
  readonly firstRepetition: number;
  /**
   * A key of its file, name and model, which stays the same if the prompt or the case is edited; without a name, its inputs
   * and options stand for it. undefined if several cases have it.
   */
  readonly nameKey: string | undefined;
}

/**
 * Resolves the target of every case and checks its inputs and options. Creates no run. An invalid case is a fault of its
 * whole file, so that nothing of that file is sent.
 */
export async function prepareEntries(
  ctx: Context,
  connectionOf: (target: string) => Promise<Connection>,
  files: readonly TestFile[],
): Promise<{ readonly entries: readonly PreparedEntry[]; readonly faults: readonly FaultyTestFile[] }> {
  const entries: Countable[] = [];
  const faults: FaultyTestFile[] = [];
  const counts = new Map<string, number>();
  const chosen = likenesses(files);
  const isFaulty = ({ file }: TestFile): boolean => faults.some(fault => fault.file === file);
  for (const file of files) {
    // A configuration of promptfoo is read as several files.
    if (isFaulty(file)) continue;
    try {
      const connection = await connectionOf(file.target);
      for (const entry of await prepareFile(ctx, connection, file, chosen)) {
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
  return { entries: chosenEntries(entries.filter(({ entry }) => !isFaulty(entry.file))), faults };
}

/** @throws {CliError} CONFIG_ERROR if a version's model has no price under `--max-cost` */
export async function checkPrices(budget: Budget, entries: readonly PreparedEntry[]): Promise<void> {
  const oneOfEach = new Map(entries.map(entry => [entry.request.promptVersionId, entry]));
  for (const { connection, request } of oneOfEach.values()) {
    await budget.checkPrice(connection, buildRunBody(request));
  }
}

/** @throws {CliError} USAGE_ERROR if a version's model has no batches at its provider, or a case takes another's answer */
export async function checkBatches(entries: readonly PreparedEntry[]): Promise<void> {
  const turn = entries.find(({ entry }) => entry.testCase.turn)?.entry;
  if (turn) {
    const where = `${turn.file.name}:${turn.testCase.line}`;
    throw usageError(`${where}: its cases take each other's answers: a batch can't have them`);
  }
  const oneOfEach = new Map(entries.map(entry => [entry.request.promptVersionId, entry]));
  for (const { connection, request } of oneOfEach.values()) {
    await batchProviderOf(connection, request.promptVersionId);
  }
}

type EntryRequest = Pick<PreparedEntry, 'entry' | 'request' | 'estimatedCredits' | 'declaration'>;

interface Choosable extends EntryRequest {
  /** False if it is prepared only to be counted. */
  readonly isChosen: boolean;
}

interface Countable extends Choosable, Omit<PreparedEntry, 'nameKey'> {}

/**
 * Prepares the chosen cases of a file, and others like any chosen one, because their repetitions have numbers too.
 *
 * @param chosen the likenesses of the chosen cases of all files
 */
async function prepareFile(
  ctx: Context,
  connection: Connection,
  file: TestFile,
  chosen: ReadonlySet<string>,
): Promise<Choosable[]> {
  const entries: Choosable[] = [];
  const versions = new Map<TestedModel | undefined, TestedVersion>();
  const own = new Set(file.cases);
  for (const testCase of file.allCases ?? file.cases) {
    const isChosen = own.has(testCase);
    if (!isChosen && !chosen.has(likeness(file, testCase))) continue;
    for (const tested of file.models) {
      const { model } = tested;
      const preparing = prepare(ctx, connection, versions, { file, testCase, model, tested });
      const entry = await (isChosen ? preparing : preparing.catch(() => undefined));
      if (entry) entries.push({ ...entry, isChosen });
    }
  }
  return entries;
}

/** Returns the likenesses of the chosen cases; none if all are chosen. */
function likenesses(files: readonly TestFile[]): ReadonlySet<string> {
  const areAllChosen = files.every(({ allCases }) => allCases === undefined);
  const chosen = areAllChosen ? [] : files;
  return new Set(chosen.flatMap(file => file.cases.map(testCase => likeness(file, testCase))));
}

/** Returns a text that equal cases share, and few others. The length of a long input stands for it, to save a copy. */
function likeness({ target }: TestFile, { text, images, options }: TestCase): string {
  const brief = (value: string): string =>
    value.length > MAX_COMPARED ? `${value.length} characters` : value;
  const inputs = [...text].map(([key, value]) => [key, brief(value)] as const);
  return JSON.stringify([target, inputs.toSorted(byKey), images.length, [...options].toSorted(byKey)]);
}

const MAX_COMPARED = 1000;

/** A version with its inputs, if they are known. */
type TestedVersion = Awaited<ReturnType<typeof resolveVersion>>;

/** @throws {CliError} that names the case, for a fault of the whole file */
async function prepare(
  ctx: Context,
  connection: Connection,
  versions: Map<TestedModel | undefined, TestedVersion>,
  entry: TestEntry,
): Promise<EntryRequest> {
  const { file, testCase, model, tested } = entry;
  const { options } = testCase;
  try {
    const version =
      versions.get(tested) ?? (await resolveVersion(ctx, connection, file, { ...tested, model }));
    versions.set(tested, version);
    const { promptVersionId, estimatedCredits, config, declaration } = version;
    const inputs = await placedInputs(ctx, testCase, config);
    await checkOptions(ctx, connection, promptVersionId, options);
    const request = { promptVersionId, ...inputs, options, ...(model !== undefined && { model }) };
    return { entry, request, estimatedCredits, declaration };
  } catch (error) {
    const fault = atCase(entry, error);
    if (!(error instanceof CaseFault)) throw fault;
    return prepare(ctx, connection, versions, { ...entry, testCase: { ...testCase, fault } });
  }
}

/** Resolves a version. In a replay, an unrecorded version is reported later, with the nearest recording. */
async function resolveVersion(
  ctx: Context,
  connection: Connection,
  { target, prompt }: TestFile,
  { model, config }: VersionOverrides,
): Promise<{
  readonly promptVersionId: string;
  readonly estimatedCredits: unknown;
  readonly config: unknown;
  readonly declaration: string | undefined;
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
  return {
    promptVersionId,
    estimatedCredits: resolved.estimatedCredits,
    config: version?.config,
    declaration: await modelDeclaration(ctx, promptVersionId),
  };
}

async function placedInputs(
  ctx: Context,
  { text, images, folder, fault }: TestCase,
  config: unknown,
): Promise<PlacedInputs<ImageSource>> {
  if (fault !== undefined) return { text, images: [] };
  const fields = describeConfig(config);
  const finder = imagesNamedIn(ctx, folder ?? { cwd: ctx.cwd, allowOutside: false });
  return checkedInputs(fields, await takeNamedImages(fields, { text, images }, finder));
}

/** Returns the version of a prompt without a file of its own. */
export async function resolveText(
  ctx: Context,
  { name, text }: { readonly name: string; readonly text: string },
  { model, config }: VersionOverrides,
): Promise<ResolvedTarget> {
  const request = { file: name, text, ...(model !== undefined && { model }), config };
  const { promptVersionId } = await withLocalStore(ctx, store => store.ensureUnlistedVersion(request));
  return { promptVersionId, mayBePrompt: false };
}

function atCase({ file, testCase }: TestEntry, error: unknown): CliError {
  const { message, status, exitCode, hints, data } = failureOf(error);
  const where = `${file.name}:${testCase.line}: ${message}`;
  return new CliError(where, { status, exitCode, hints, data, cause: error });
}

/** Returns the chosen entries, each with the key of its name unless another entry has the same. */
function chosenEntries(all: readonly Countable[]): PreparedEntry[] {
  const keys = all.map(nameKey);
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return all.flatMap(({ isChosen, ...entry }, index) => {
    const key = keys[index] ?? '';
    return isChosen ? [{ ...entry, nameKey: counts.get(key) === 1 ? key : undefined }] : [];
  });
}

function nameKey({ entry: { file, testCase, model, tested }, request }: EntryRequest): string {
  const name = testCase.isNumbered ? inputsOf(request) : testCase.name;
  return contentDigest([file.file, name, model ?? null, tested?.number ?? null]);
}

/** Returns a key of a case from its target, model, inputs and options, but not from its number or name. */
function entryKey({ entry: { file, model }, request, declaration }: EntryRequest): string {
  return contentDigest([
    file.target,
    request.promptVersionId,
    model ?? null,
    ...inputsOf(request),
    ...(declaration === undefined ? [] : [declaration]),
  ]);
}

function contentDigest(content: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

/** Returns the texts, images and options of a request, in an order of their own. */
function inputsOf({ text, images, options }: RunRequest): unknown[] {
  return [
    [...text].toSorted(byKey),
    images.map(image => (image.kind === 'url' ? image.url : image.sha256)),
    [...options].toSorted(byKey),
  ];
}
