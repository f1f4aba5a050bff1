import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { inspectNamedFile } from '../../../files/named-file.ts';
import type { Context } from '../../context.ts';
import { type FoundTests, findTestFiles } from '../cases/find-test-files.ts';
import type { TestCase, TestFile } from '../cases/test-case.ts';
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

/** The state of the files that tests depend on, at one time. */
export interface Snapshot {
  /** The fingerprint of each file, by path. */
  readonly files: ReadonlyMap<string, Fingerprint>;
  /** The paths of each prompt's partials. */
  readonly partials: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Returns true if a file may be a test file. */
export function isYaml(file: string): boolean {
  return /\.ya?ml$/u.test(file);
}

/** Reads the state of the test files and of all files that their cases depend on. */
export async function takeSnapshot(
  ctx: Context,
  options: TestOptions,
  files: readonly TestFile[],
  previous?: Snapshot,
): Promise<Snapshot> {
  const prompts = files.map(({ target }) => target).filter(target => path.isAbsolute(target));
  const partials = new Map<string, ReadonlySet<string>>();
  for (const prompt of new Set(prompts)) partials.set(prompt, await findPartials(prompt));
  const watchedFiles = new Set([
    ...(await findPresentTests(ctx, options)).files,
    ...files.flatMap(({ file, cases }) => [
      file,
      ...cases.flatMap(({ filesRead = [] }) => filesRead),
    ]),
    ...prompts,
    ...[...partials.values()].flatMap(paths => [...paths]),
  ]);
  const fingerprints = [...watchedFiles].map(
    async file => [file, await takeFingerprint(file, previous?.files.get(file))] as const,
  );

  return { files: new Map(await Promise.all(fingerprints)), partials };
}

const MISSING_FILE: Fingerprint = { stats: '', digest: '' };

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

/** Returns the partials of a prompt file, including nested and missing ones. */
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
  { files: filesBefore }: Snapshot,
  { files: filesNow }: Snapshot,
): Set<string> {
  const hasChanged = (file: string): boolean =>
    filesNow.has(file)
      ? filesNow.get(file)?.digest !== filesBefore.get(file)?.digest
      : filesBefore.get(file) !== MISSING_FILE && !existsSync(file);
  const isNew = (file: string): boolean => !filesBefore.has(file) && isYaml(file);
  return new Set([
    ...[...filesBefore.keys()].filter(hasChanged),
    ...[...filesNow.keys()].filter(isNew),
  ]);
}

/** The texts of the cases that have run, by test file. */
export type RunCases = ReadonlyMap<string, ReadonlySet<string>>;

export function groupCasesByFile(files: readonly TestFile[]): RunCases {
  return new Map(
    files.map(({ file, cases }) => [
      file,
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
  { partials }: Snapshot,
  runCases: RunCases,
): (file: TestFile, testCase: TestCase) => boolean {
  return ({ file, target }, { filesRead = [], sourceText = '' }) => {
    const hasRun = runCases.get(file)?.has(sourceText) === true;
    if (changedPaths.has(file) && !hasRun) return true;
    const otherFiles = [target, ...(partials.get(target) ?? []), ...filesRead];
    return otherFiles.some(name => name !== file && changedPaths.has(name));
  };
}

/**
 * Finds the present test files, which may be none. The round before has reported the skipped ones.
 */
export async function findPresentTests(ctx: Context, options: TestOptions): Promise<FoundTests> {
  const noTests = { files: [], namedFiles: new Set<string>(), directories: [] };
  return findTestFiles(ctx, options.paths, () => {}).catch(() => noTests);
}
