import type { Connection, Context } from '../../context.ts';
import { CaseFault, CliError, usageError } from '../../core/errors.ts';
import { toFailure } from '../../core/failure.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import type { InputHints } from '../../inputs/check-inputs.ts';
import { describeConfig } from '../../inputs/describe-config.ts';
import { checkOptions } from '../../inputs/flag-values.ts';
import type { ImageSource } from '../../inputs/images/image-source.ts';
import {
  checkInputs,
  openNamedImages,
  type PlacedInputs,
} from '../../inputs/images/place-images.ts';
import { createNamedImageFinder } from '../../inputs/named-file.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { findBatchProvider } from '../../jobs/provider-batch/batch-session.ts';
import type { TestCase, TestedModel, TestFile } from '../cases/test-case.ts';
import type { FaultyTestFile, TestEntry } from '../entry-result.ts';
import {
  computeContentKey,
  computeNameKey,
  computeRoughKey,
  type KeyedEntry,
} from './entry-keys.ts';
import { resolveTestedVersion, type TestedVersion } from './tested-version.ts';

export interface PreparedEntry extends EntryRequest {
  /** The connection to the service that runs it. */
  readonly connection: Connection;
  /** A key that equal cases share, regardless of their number or name. */
  readonly key: string;
  /**
   * The number of its first repetition: 1, or more after equal cases, so that all repetitions have
   * different numbers.
   */
  readonly firstRepetition: number;
  /** The number among the equal cases of its file, from 1. */
  readonly numberInFile: number;
  /** The `nameKey` of the case; undefined if several cases have it. */
  readonly nameKey: string | undefined;
}

interface EntryRequest extends KeyedEntry {
  /** The estimate in the service's search results. */
  readonly estimatedCredits: unknown;
}

/**
 * An entry that may only be prepared so that the repetitions of equal ones get different numbers.
 */
interface CountedRequest extends EntryRequest {
  /** False if it is not run. */
  readonly isChosen: boolean;
}

type CountedEntry = CountedRequest & Omit<PreparedEntry, 'nameKey'>;

/**
 * Resolves the target of every case and checks its inputs and options. Creates no run. An invalid
 * case is a fault of its whole file, so that nothing of that file is sent.
 */
export async function prepareEntries(
  ctx: Context,
  openConnection: (target: string) => Promise<Connection>,
  files: readonly TestFile[],
): Promise<{
  readonly entries: readonly PreparedEntry[];
  readonly faults: readonly FaultyTestFile[];
}> {
  const entries: CountedEntry[] = [];
  const faults: FaultyTestFile[] = [];
  const nextRepetitions = new Map<string, number>();
  const numbersInFiles = new Map<string, number>();
  const chosenKeys = collectRoughKeys(files);
  const isFaulty = ({ file }: TestFile): boolean => faults.some(fault => fault.file === file);

  for (const file of files) {
    // A configuration of promptfoo is read as several files.
    if (isFaulty(file)) continue;
    try {
      const connection = await openConnection(file.target);
      for (const request of await prepareFile(ctx, connection, file, chosenKeys)) {
        const key = computeContentKey(request);
        const firstRepetition = nextRepetitions.get(key) ?? 1;
        nextRepetitions.set(key, firstRepetition + request.entry.testCase.repeat);

        const keyInFile = `${file.file} ${key}`;
        const numberInFile = (numbersInFiles.get(keyInFile) ?? 0) + 1;
        numbersInFiles.set(keyInFile, numberInFile);
        entries.push({ ...request, connection, key, firstRepetition, numberInFile });
      }
    } catch (error) {
      ctx.signal.throwIfAborted();
      faults.push({ file: file.file, name: file.name, fault: toFailure(error) });
    }
  }

  return {
    entries: pickChosenEntries(entries.filter(({ entry }) => !isFaulty(entry.file))),
    faults,
  };
}

/** @throws {CliError} CONFIG_ERROR if a version's model has no price under `--max-cost` */
export async function checkPrices(
  budget: Budget,
  entries: readonly PreparedEntry[],
): Promise<void> {
  for (const { connection, request } of pickOnePerVersion(entries)) {
    await budget.checkPrice(connection, buildRunBody(request));
  }
}

/**
 * @throws {CliError} USAGE_ERROR if a version's model has no batches at its provider, or a case
 * takes another's answer
 */
export async function checkBatches(entries: readonly PreparedEntry[]): Promise<void> {
  const turn = entries.find(({ entry }) => entry.testCase.turn)?.entry;
  if (turn) {
    const where = `${turn.file.name}:${turn.testCase.line}`;
    throw usageError(`${where}: its cases use each other's answers, so they can't run in a batch`);
  }
  for (const { connection, request } of pickOnePerVersion(entries)) {
    await findBatchProvider(connection, request.promptVersionId);
  }
}

function pickOnePerVersion(entries: readonly PreparedEntry[]): Iterable<PreparedEntry> {
  return new Map(entries.map(entry => [entry.request.promptVersionId, entry])).values();
}

/**
 * Returns the rough keys of the chosen cases; none if all are chosen, because then none is prepared
 * only to be counted.
 */
function collectRoughKeys(files: readonly TestFile[]): ReadonlySet<string> {
  const areAllChosen = files.every(({ allCases }) => allCases === undefined);
  if (areAllChosen) return new Set();
  return new Set(
    files.flatMap(file => file.cases.map(testCase => computeRoughKey(file, testCase))),
  );
}

/**
 * Prepares the chosen cases of a file, and others that may equal a chosen one, because their
 * repetitions have numbers too.
 */
async function prepareFile(
  ctx: Context,
  connection: Connection,
  file: TestFile,
  chosenKeys: ReadonlySet<string>,
): Promise<CountedRequest[]> {
  const requests: CountedRequest[] = [];
  const versions = new Map<TestedModel | undefined, TestedVersion>();
  const chosen = new Set(file.cases);
  for (const testCase of file.allCases ?? file.cases) {
    const isChosen = chosen.has(testCase);
    if (!isChosen && !chosenKeys.has(computeRoughKey(file, testCase))) continue;
    for (const tested of file.models) {
      const { model } = tested;
      const preparing = prepareEntry(ctx, connection, versions, { file, testCase, model, tested });
      const request = await (isChosen ? preparing : preparing.catch(() => undefined));
      if (request) requests.push({ ...request, isChosen });
    }
  }

  return requests;
}

/** @throws {CliError} that names the case, for a fault of the whole file */
async function prepareEntry(
  ctx: Context,
  connection: Connection,
  versions: Map<TestedModel | undefined, TestedVersion>,
  entry: TestEntry,
): Promise<EntryRequest> {
  const { file, testCase, model, tested } = entry;
  const { options } = testCase;
  try {
    const version =
      versions.get(tested) ??
      (await resolveTestedVersion(ctx, connection, file, { ...tested, model }));
    versions.set(tested, version);
    const { promptVersionId, estimatedCredits, config, declaration } = version;
    const inputs = await placeInputs(ctx, testCase, config);
    await checkOptions(ctx, connection, { promptVersionId, options });
    const request = { promptVersionId, ...inputs, options, ...(model !== undefined && { model }) };

    return { entry, request, estimatedCredits, declaration };
  } catch (error) {
    const fault = toCaseError(entry, error);
    if (!(error instanceof CaseFault)) throw fault;
    return prepareEntry(ctx, connection, versions, { ...entry, testCase: { ...testCase, fault } });
  }
}

const IN_CASE: InputHints = {
  text: key => `under the inputs of the case: ${key}: …`,
  image: name => `under the inputs of the case: ${name}: <file>`,
};

async function placeInputs(
  ctx: Context,
  { text, images, folder, fault }: TestCase,
  config: unknown,
): Promise<PlacedInputs<ImageSource>> {
  if (fault !== undefined) return { text, images: [] };
  const fields = describeConfig(config);
  const finder = createNamedImageFinder(ctx, folder ?? { cwd: ctx.cwd, allowOutside: false });
  return checkInputs(fields, await openNamedImages(fields, { text, images }, finder), IN_CASE);
}

function toCaseError({ file, testCase }: TestEntry, error: unknown): CliError {
  const { message, ...failure } = toFailure(error);
  return new CliError(`${file.name}:${testCase.line}: ${message}`, { ...failure, cause: error });
}

/** Returns the chosen entries, each with the key of its name unless another entry has the same. */
function pickChosenEntries(countedEntries: readonly CountedEntry[]): PreparedEntry[] {
  const keys = countedEntries.map(computeNameKey);
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return countedEntries.flatMap(({ isChosen, ...entry }, index) => {
    const key = keys[index] ?? '';
    return isChosen ? [{ ...entry, nameKey: counts.get(key) === 1 ? key : undefined }] : [];
  });
}
