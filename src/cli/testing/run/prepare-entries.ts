import { countUp } from '../../../utils/count-up.ts';
import type { Connection, Context } from '../../context.ts';
import { CaseFault, usageError } from '../../core/errors.ts';
import { toFailure, toPlacedError } from '../../core/failure.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import type { InputHints } from '../../inputs/check-inputs.ts';
import { checkOptions } from '../../inputs/flag-values.ts';
import type { ImageSource } from '../../inputs/images/image-source.ts';
import {
  openNamedImages,
  type PlacedInputs,
  placeAndCheckInputs,
} from '../../inputs/images/place-images.ts';
import { createNamedImageOpener } from '../../inputs/named-file.ts';
import { readInputFields } from '../../inputs/read-input-fields.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { findBatchProvider } from '../../jobs/provider-batch/batch-session.ts';
import type { TestedModel, TestFile } from '../cases/test-case.ts';
import type { FaultyTestFile, TestEntry } from '../entry-result.ts';
import {
  computeContentKey,
  computeNameKey,
  computeRoughKey,
  type KeyedEntry,
} from './entry-keys.ts';
import { resolveTestedVersion, type TestedVersion } from './tested-version.ts';

/** A case with one of its models, with its checked request. */
interface EntryRequest extends KeyedEntry {
  /** The connection to the service that runs it. */
  readonly connection: Connection;
  /** The estimate in the service's search results. */
  readonly estimatedCredits: unknown;
  /**
   * False if it is not run, only counted: equal cases share their recordings by number, so if the
   * second of two equal cases is chosen alone, its repetitions keep the numbers after the first's.
   */
  readonly isChosen: boolean;
}

/** An entry that is ready to run. */
export interface PreparedEntry extends Omit<EntryRequest, 'isChosen'> {
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
  readonly faultyFiles: readonly FaultyTestFile[];
}> {
  const requests: EntryRequest[] = [];
  const faultyFiles: FaultyTestFile[] = [];
  const faultyPaths = new Set<string>();
  const chosenKeys = collectRoughKeys(files);

  for (const file of files) {
    // A configuration of promptfoo is read as several files.
    if (faultyPaths.has(file.path)) continue;
    try {
      const connection = await openConnection(file.target);
      requests.push(...(await prepareFile(ctx, connection, file, chosenKeys)));
    } catch (error) {
      ctx.signal.throwIfAborted();
      faultyFiles.push({ path: file.path, name: file.name, fault: toFailure(error) });
      faultyPaths.add(file.path);
    }
  }

  const validRequests = requests.filter(({ entry }) => !faultyPaths.has(entry.file.path));
  return { entries: numberEntries(validRequests), faultyFiles };
}

/** Returns the chosen entries with their keys, and with numbers that all equal entries share. */
function numberEntries(requests: readonly EntryRequest[]): PreparedEntry[] {
  const nameKeys = requests.map(computeNameKey);
  const nameKeyCounts = new Map<string, number>();
  for (const nameKey of nameKeys) countUp(nameKeyCounts, nameKey);

  const nextRepetitions = new Map<string, number>();
  const countsInFiles = new Map<string, number>();
  return requests.flatMap(({ isChosen, ...request }, index) => {
    const { file, testCase } = request.entry;
    const key = computeContentKey(request);
    const firstRepetition = nextRepetitions.get(key) ?? 1;
    nextRepetitions.set(key, firstRepetition + testCase.repeat);
    const numberInFile = countUp(countsInFiles, `${file.path} ${key}`);
    if (!isChosen) return [];

    const ownNameKey = nameKeys[index] ?? '';
    const nameKey = nameKeyCounts.get(ownNameKey) === 1 ? ownNameKey : undefined;
    return [{ ...request, key, firstRepetition, numberInFile, nameKey }];
  });
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
  const turnEntry = entries.find(({ entry }) => entry.testCase.turn)?.entry;
  if (turnEntry) {
    const place = formatCasePlace(turnEntry);
    throw usageError(`${place}: its cases use each other's answers, so they can't run in a batch`);
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
): Promise<EntryRequest[]> {
  const requests: EntryRequest[] = [];
  const versions = new Map<TestedModel | undefined, TestedVersion>();
  const chosenCases = new Set(file.cases);
  for (const testCase of file.allCases ?? file.cases) {
    const isChosen = chosenCases.has(testCase);
    if (!isChosen && !chosenKeys.has(computeRoughKey(file, testCase))) continue;
    for (const testedModel of file.models) {
      const entry: TestEntry = { file, testCase, model: testedModel.model, testedModel };
      const preparation = prepareRequest(ctx, connection, versions, entry);
      // A case that is only counted may be invalid.
      const request = await (isChosen ? preparation : preparation.catch(() => undefined));
      if (request) requests.push({ ...request, connection, isChosen });
    }
  }

  return requests;
}

/**
 * Resolves the version of an entry and checks its inputs and options.
 *
 * @throws {CliError} if the whole file can't be run; the message begins with the case's place
 */
async function prepareRequest(
  ctx: Context,
  connection: Connection,
  versions: Map<TestedModel | undefined, TestedVersion>,
  testEntry: TestEntry,
): Promise<Omit<EntryRequest, 'connection' | 'isChosen'>> {
  const { file, testCase, model, testedModel } = testEntry;
  const { options } = testCase;
  try {
    const version =
      versions.get(testedModel) ??
      (await resolveTestedVersion(ctx, connection, file, { ...testedModel, model }));
    versions.set(testedModel, version);
    const { promptVersionId, estimatedCredits, config, declaration } = version;
    const { entry, inputs } = await placeEntryInputs(ctx, testEntry, config);
    await checkOptions(ctx, connection, { promptVersionId, options });
    const request = { promptVersionId, ...inputs, options, ...(model !== undefined && { model }) };

    return { entry, request, estimatedCredits, declaration };
  } catch (error) {
    throw toPlacedError(formatCasePlace(testEntry), error);
  }
}

const CASE_INPUT_HINTS: InputHints = {
  text: key => `under the inputs of the case: ${key}: …`,
  image: name => `under the inputs of the case: ${name}: <file>`,
};

/**
 * Checks the inputs of an entry. A file that it may not use becomes the fault of the case, which
 * then has no images.
 */
async function placeEntryInputs(
  ctx: Context,
  entry: TestEntry,
  config: unknown,
): Promise<{ readonly entry: TestEntry; readonly inputs: PlacedInputs<ImageSource> }> {
  const { testCase } = entry;
  const { text, images, folder } = testCase;
  const inputsWithoutImages = { text, images: [] };
  if (testCase.fault !== undefined) return { entry, inputs: inputsWithoutImages };

  const fields = readInputFields(config);
  const opener = createNamedImageOpener(ctx, folder ?? { cwd: ctx.cwd, allowOutside: false });
  try {
    const openedInputs = await openNamedImages(fields, { text, images }, opener);
    return { entry, inputs: placeAndCheckInputs(fields, openedInputs, CASE_INPUT_HINTS) };
  } catch (error) {
    if (!(error instanceof CaseFault)) throw error;
    const fault = toPlacedError(formatCasePlace(entry), error);
    return { entry: { ...entry, testCase: { ...testCase, fault } }, inputs: inputsWithoutImages };
  }
}

function formatCasePlace({ file, testCase }: TestEntry): string {
  return `${file.name}:${testCase.line}`;
}
