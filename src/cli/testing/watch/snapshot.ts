import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { inspectNamedFile } from '../../../files/named-file.ts';
import type { Context } from '../../context.ts';
import { type FoundTests, findTestFiles } from '../cases/find-test-files.ts';
import type { TestCase, TestFile } from '../cases/test-case.ts';
import { isPromptfooFile } from '../cases/test-file-names.ts';
import type { TestOptions } from '../test-options.ts';

/** Maximum size of a prompt file, in bytes. */
const MAX_PROMPT_BYTES = 128 * 1024;

/** Matches the start of a partial, such as `{{> greeting` or `{{#> "layout/page`. */
const PARTIAL_NAME = /\{\{~?#?>\s*["'[]?([\p{L}\p{M}\p{N}._/-]+)/gu;

/** The facts about a file that change when it is written; empty for a missing file. */
interface Fingerprint {
  readonly stats: string;
  /** A digest of its content. */
  readonly digest: string;
}

const MISSING_FILE: Fingerprint = { stats: '', digest: '' };

/** The state at one time of the files that tests depend on. */
export interface Snapshot {
  /** The fingerprints of files by their paths. */
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  /** The paths of each prompt's partials, by the path of the prompt. */
  readonly partialsByPrompt: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Returns true if a file may be a test file. */
export function mayBeTestFile(file: string): boolean {
  return /\.ya?ml$/u.test(file) || isPromptfooFile(file);
}

/** Reads the state of the test files and of all files that their cases depend on. */
export async function takeSnapshot(
  ctx: Context,
  options: TestOptions,
  files: readonly TestFile[],
  previousSnapshot?: Snapshot,
): Promise<Snapshot> {
  const promptPaths = files.map(({ target }) => target).filter(target => path.isAbsolute(target));
  const partialsByPrompt = new Map<string, ReadonlySet<string>>();
  for (const promptPath of new Set(promptPaths)) {
    partialsByPrompt.set(promptPath, await findPartials(promptPath));
  }
  const watchedPaths = new Set([
    ...(await findPresentTestFiles(ctx, options)).paths,
    ...files.flatMap(({ path: testFilePath, cases }) => [
      testFilePath,
      ...cases.flatMap(({ filesRead = [] }) => filesRead),
    ]),
    ...promptPaths,
    ...[...partialsByPrompt.values()].flatMap(paths => [...paths]),
  ]);
  const fingerprints = [...watchedPaths].map(
    async watchedPath =>
      [
        watchedPath,
        await takeFingerprint(watchedPath, previousSnapshot?.fingerprints.get(watchedPath)),
      ] as const,
  );

  return { fingerprints: new Map(await Promise.all(fingerprints)), partialsByPrompt };
}

/** Returns the fingerprint of a file, which is read only if its stats have changed. */
async function takeFingerprint(
  file: string,
  previous: Fingerprint | undefined,
): Promise<Fingerprint> {
  const fileStats = await stat(file).catch(() => undefined);
  if (fileStats === undefined) return MISSING_FILE;

  const stats = `${fileStats.mtimeMs} ${fileStats.size} ${fileStats.ino}`;
  if (stats === previous?.stats) return previous;
  if (!fileStats.isFile()) return { stats, digest: stats };

  const content = await readFile(file).catch(() => undefined);
  return {
    stats,
    digest: content === undefined ? stats : createHash('sha256').update(content).digest('hex'),
  };
}

/** Returns the paths of a prompt file's partials, including nested and missing ones. */
async function findPartials(prompt: string): Promise<ReadonlySet<string>> {
  const partials = new Set<string>();
  const pendingFiles = prompt.endsWith('.prompt') ? [prompt] : [];
  for (let file = pendingFiles.pop(); file !== undefined; file = pendingFiles.pop()) {
    const text = await readPromptOrEmpty(file, path.dirname(prompt)).catch(() => '');
    // A prompt that is being written may not parse, so the names are looked for in its text.
    for (const [, name = ''] of text.matchAll(PARTIAL_NAME)) {
      const partial = path.join(
        path.dirname(prompt),
        path.dirname(name),
        `_${path.basename(name)}.prompt`,
      );
      if (!partials.has(partial)) pendingFiles.push(partial);
      partials.add(partial);
    }
  }

  return partials;
}

/** Reads a prompt or partial; returns an empty string for a file that is refused as one. */
async function readPromptOrEmpty(file: string, folder: string): Promise<string> {
  const { realPath, fault } = inspectNamedFile(file, folder, MAX_PROMPT_BYTES);
  return fault === undefined ? await readFile(realPath, 'utf8') : '';
}

/** Returns the files that were changed or removed, and new ones that may be test files. */
export function listChangedFiles(
  { fingerprints: before }: Snapshot,
  { fingerprints: now }: Snapshot,
): Set<string> {
  const hasChanged = (file: string): boolean =>
    now.has(file)
      ? now.get(file)?.digest !== before.get(file)?.digest
      : before.get(file) !== MISSING_FILE && !existsSync(file);
  const isNew = (file: string): boolean => !before.has(file) && mayBeTestFile(file);
  return new Set([...[...before.keys()].filter(hasChanged), ...[...now.keys()].filter(isNew)]);
}

/** The texts of the cases that have run, by test file. */
export type RunCaseTexts = ReadonlyMap<string, ReadonlySet<string>>;

/** Collects the texts of cases by test file. */
export function collectCaseTexts(files: readonly TestFile[]): RunCaseTexts {
  return new Map(
    files.map(({ path: testFilePath, cases }) => [
      testFilePath,
      new Set(cases.flatMap(({ sourceText }) => sourceText ?? [])),
    ]),
  );
}

/**
 * Returns a function that checks if a case depends on one of these files. A case depends on its
 * prompt, the prompt's partials and the files that it reads, and on its test file if the case's
 * text there has changed since it ran.
 */
export function createDependencyCheck(
  changedPaths: ReadonlySet<string>,
  { partialsByPrompt }: Snapshot,
  runCaseTexts: RunCaseTexts,
): (file: TestFile, testCase: TestCase) => boolean {
  return ({ path: testFilePath, target }, { filesRead = [], sourceText = '' }) => {
    const hasRun = runCaseTexts.get(testFilePath)?.has(sourceText) === true;
    if (changedPaths.has(testFilePath) && !hasRun) return true;
    const otherPaths = [target, ...(partialsByPrompt.get(target) ?? []), ...filesRead];
    return otherPaths.some(file => file !== testFilePath && changedPaths.has(file));
  };
}

/**
 * Returns the test files that are there now; none if they can't be found. Reports no skipped file,
 * because the first round has done so.
 */
export async function findPresentTestFiles(
  ctx: Context,
  options: TestOptions,
): Promise<FoundTests> {
  const noTests = { paths: [], namedPaths: new Set<string>(), directories: [] };
  return findTestFiles(ctx, options.paths, () => {}).catch(() => noTests);
}
