import PQueue from 'p-queue';
import { type JsonValue, parseJson } from '../../files/formats/json.ts';
import { PersistentPrograms } from '../../processes/persistent-programs.ts';
import { describeProgramEnd } from '../../processes/process-tree.ts';
import { OutputCollector, type ProgramOutput } from '../../processes/program-output.ts';
import {
  type CaseFacts,
  type CaseProgram,
  type CaseProgramOptions,
  CHECK_PROGRAM_LIMIT_MS,
  programStartError,
  startCaseProgram,
} from './case-program.ts';
import type { JavaScript, JavaScriptInput } from './load-javascript.ts';
import { buildNodeArgv } from './node-check-code.ts';

/** The result of a check by Node. */
export type NodeVerdict =
  | { readonly passes: boolean; readonly reason: string }
  /** The reason why the answer could not be checked. */
  | { readonly fault: string };

/** An answer to check, and how the result of the script is read. */
export interface NodeCheckInput extends JavaScriptInput {
  readonly threshold: number | undefined;
  readonly isAsPromptfoo: boolean;
}

/** Maximum number of Nodes that check at a time. */
const MAX_NODES = 4;

type CheckProgram = CaseProgram & { readonly output: OutputCollector };

/**
 * Checks answers with scripts that only Node can run. A Node that has loaded a script stays for the
 * next answers.
 */
export class NodeChecks {
  readonly #nodePrograms = new PersistentPrograms<CheckProgram>();
  readonly #queue = new PQueue({ concurrency: MAX_NODES });

  /**
   * Checks an answer.
   *
   * @throws {CliError} USAGE_ERROR if Node can't be started
   */
  async check(
    script: JavaScript,
    input: NodeCheckInput,
    testCase: CaseFacts,
    options: CaseProgramOptions,
  ): Promise<NodeVerdict> {
    const argv = buildNodeArgv(script);
    try {
      const question = {
        key: JSON.stringify([argv, options.directory]),
        fields: { ...input, code: script.file === undefined ? script.code : undefined },
        limits: { signal: options.signal, timeoutMs: CHECK_PROGRAM_LIMIT_MS },
        start: async () => {
          const program = await startCaseProgram(argv, testCase, options);
          return { ...program, output: new OutputCollector(program.tree.child) };
        },
        prepare: (program: CheckProgram) => program.writeCase(testCase),
      };
      return readVerdict(await this.#queue.add(() => this.#nodePrograms.ask(question)));
    } catch (error) {
      options.signal.throwIfAborted();
      throw programStartError(argv, error);
    }
  }

  /** Ends the Nodes that wait; later checks start them again. */
  endIdle(): Promise<void> {
    return this.#nodePrograms.endIdle();
  }
}

function readVerdict({ answer, stderr, end }: ProgramOutput): NodeVerdict {
  if (end === 'answered') return parseJson(answer) as JsonValue as NodeVerdict;
  const printedText = `${answer}${stderr}`.trim();
  if (printedText !== '') return { fault: printedText };
  return {
    fault: end ? describeProgramEnd(end) : `took more than ${CHECK_PROGRAM_LIMIT_MS / 1000} s`,
  };
}
