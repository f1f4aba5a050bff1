import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ProcessTree } from '../../processes/process-tree.ts';
import { withoutKeys } from '../../processes/program-environment.ts';
import type { Env } from '../../utils/env.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { usageError } from '../core/errors.ts';

/** Maximum time of a program that checks an answer, in milliseconds. */
export const CHECK_PROGRAM_LIMIT_MS = 30_000;

/**
 * The variable with the path of the case's file. Child processes inherit it, so that they can be
 * found by it.
 */
const CASE_VARIABLE = 'PROMPTRUN_CASE';

export interface CaseProgramOptions {
  readonly directory: string;
  /** The environment of this process. */
  readonly env: Env;
  /** Variables that contain keys, which the program must not get. */
  readonly secrets: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** The facts about a case for a program. */
export interface CaseFacts {
  readonly name: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** null if it is not known on this machine. */
  readonly model: string | null;
  readonly output: string;
}

/** A started program of a test file. */
export interface CaseProgram {
  readonly tree: ProcessTree;
  /** Replaces the case in the file that PROMPTRUN_CASE names. */
  writeCase(testCase: CaseFacts): Promise<void>;
  /** Ends it with what it left running, and removes the file. */
  end(): Promise<void>;
}

/**
 * Starts a program on a case, which is written to the file that PROMPTRUN_CASE names.
 *
 * @throws if it can't be started, and the signal's reason
 */
export async function startCaseProgram(
  argv: readonly [string, ...string[]],
  testCase: CaseFacts,
  { directory, env, secrets, signal }: CaseProgramOptions,
): Promise<CaseProgram> {
  signal.throwIfAborted();
  const folder = await mkdtemp(path.join(tmpdir(), 'promptrun-case-'));
  const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true });

  try {
    const file = path.join(folder, 'case.json');
    const writeCase = (facts: CaseFacts): Promise<void> =>
      writeFile(file, JSON.stringify(facts), { mode: 0o600 });
    await writeCase(testCase);
    const programEnv = { ...withoutKeys(env, secrets), [CASE_VARIABLE]: file };

    const tree = new ProcessTree({ argv, directory, env: programEnv }, CASE_VARIABLE);
    const end = async (): Promise<void> => {
      await tree.end();
      await removeFolder();
    };

    return { tree, writeCase, end };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/** Returns the error for a program of a test file that can't be started. */
export function programStartError(
  [program]: readonly [string, ...string[]],
  error: unknown,
): Error {
  return usageError(
    `the command ${JSON.stringify(program)} can't be started: ${getErrorMessage(error)}`,
  );
}
