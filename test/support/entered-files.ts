import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { runCommand } from './command.ts';
import { createTemporaryDirectory } from './context.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The part of `NODE_V8_COVERAGE` output that is read here. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** Files of `src/`. */
interface EnteredFiles {
  /** In bundles that were loaded. */
  readonly loaded: readonly string[];
  /** Those of which at least one function was called. */
  readonly entered: readonly string[];
}

/**
 * Returns the files of `src/` that a call of the command loads and enters, by the coverage of a
 * readable build.
 */
export async function measureEnteredFiles(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<EnteredFiles> {
  const directory = createTemporaryDirectory();
  const dist = path.join(directory, 'dist');
  const script = path.join(import.meta.dirname, 'build-readable.js');
  await promisify(execFile)(process.execPath, [script, dist], { cwd: ROOT });
  cpSync(path.join(ROOT, 'bin'), path.join(directory, 'bin'), { recursive: true });
  const coverage = path.join(directory, 'coverage');
  const { code, stderr } = await runCommand(args, {
    command: path.join(directory, 'bin/promptrun.js'),
    // Files that come from the code cache have no URL, and coverage leaves them out.
    env: { ...env, NODE_V8_COVERAGE: coverage, NODE_DISABLE_COMPILE_CACHE: '1' },
  });
  if (code !== 0) throw new Error(stderr);

  const [loaded, entered] = [new Set<string>(), new Set<string>()];
  for (const report of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(path.join(coverage, report), 'utf8')) as Coverage;
    for (const { url, functions } of result) {
      if (!url.startsWith(pathToFileURL(dist).href)) continue;
      const fileAt = mapFilesIn(readFileSync(new URL(url), 'utf8'));
      for (const { ranges } of functions) {
        const [range] = ranges;
        const file = range && fileAt(range.startOffset);
        if (!file) continue;
        loaded.add(file);
        if (range.count > 0) entered.add(file);
      }
    }
  }

  return { loaded: [...loaded].sort(), entered: [...entered].sort() };
}

/**
 * Returns a function that names the file of `src/` an offset in a bundle comes from; undefined for
 * other code.
 */
function mapFilesIn(bundle: string): (offset: number) => string | undefined {
  const starts = [
    ...bundle.matchAll(/^\/\/ (?<file>\S+\.[cm]?[jt]s)$|^Object\.defineProperty\(exports/gmu),
  ];
  return offset => {
    const file = starts.findLast(({ index }) => index <= offset)?.groups?.['file'];
    return file?.startsWith('src/') === true ? file : undefined;
  };
}
