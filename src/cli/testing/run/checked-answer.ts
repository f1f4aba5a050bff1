import path from 'node:path';
import { findOwnValue, type JsonValue } from '../../../files/formats/json.ts';
import type { Run } from '../../../wire/index.ts';
import { toDollars } from '../../../wire/money.ts';
import type { CaseFacts, CaseProgramOptions } from '../../checks/case-program.ts';
import type { JavaScriptInput } from '../../checks/load-javascript.ts';
import type { Context } from '../../context.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import { joinTextOutputs } from '../../outputs/output-schema.ts';
import { findVersionDefinition } from '../../targets/prompt-definition.ts';
import type { CheckedAnswer } from '../expectations/expectation.ts';
import { runCommand } from '../expectations/run-command.ts';
import type { Judge, JudgeLog } from '../judging/judge.ts';
import type { QuestionRounds } from '../judging/question-rounds.ts';
import type { PreparedEntry } from './prepare-entries.ts';

/** The parts of a test that the checks of a repetition use. */
export interface CheckTools {
  readonly judge: Judge;
  readonly budget: Budget;
  /** The log of the judge's questions about this repetition. */
  readonly log: JudgeLog;
  /**
   * Collects the questions of several repetitions into one round; if undefined, each is sent alone.
   */
  readonly rounds?: QuestionRounds | undefined;
  /** Called with the answer before and after its transforms; undefined if these fail. */
  readonly onAnswer?: (output: JsonValue, transformed: JsonValue | undefined) => void;
}

/** A case whose answers are checked, with its request. */
export type CheckedEntry = Pick<PreparedEntry, 'entry' | 'connection' | 'request'> &
  Partial<Pick<PreparedEntry, 'declaration'>>;

/** A run that has ended, with what a provider of promptfoo returned. */
interface EndedRun {
  readonly run: Run;
  readonly seconds: number | null;
  /** The whole result of a provider that returns more than an output. */
  readonly response?: JsonValue | undefined;
}

/** Returns the answer of a run with everything that expectations check it with. */
export async function createCheckedAnswer(
  ctx: Context,
  checkedEntry: CheckedEntry,
  { run, seconds, response }: EndedRun,
  { judge, budget, log, rounds }: CheckTools,
): Promise<CheckedAnswer> {
  const { file, testCase } = checkedEntry.entry;
  const output = joinTextOutputs(run.outputs);
  const text = testCase.trims ? output.trim() : output;

  return {
    text,
    value: findOwnValue(response ?? null, 'output') ?? text,
    isAsPromptfoo: file.isAsPromptfoo ?? false,
    seconds,
    tokens: run.tokens,
    readDollars: () => findRunCost(checkedEntry, run, budget),
    isUnpriced: () => isUnpriced(run, budget),
    checks: await ctx.checks(),
    ask: question => judge.ask(question, log, rounds),
    placeholderValues: new Map([...testCase.text, ...(testCase.placeholderValues ?? [])]),
    ...createCodeRunners(ctx, checkedEntry, { response, output, text }, rounds),
  };
}

/** Returns the cost of a run in US dollars; undefined if it is unknown. */
async function findRunCost(
  { connection }: CheckedEntry,
  run: Run,
  budget: CheckTools['budget'],
): Promise<number | undefined> {
  if (connection.recorder?.findCost) return connection.recorder.findCost(run.runId);
  await budget.countWaitedRun(connection, run);
  const { cost } = budget.getRunSpend(run.runId);
  return cost === undefined ? undefined : toDollars(cost);
}

/** Returns true if the cost of a run is unknown only because its model has no price. */
function isUnpriced({ runId }: Run, budget: Budget): boolean {
  const { serviceCost } = budget.getRunSpend(runId);
  if (serviceCost === undefined || serviceCost.tokens === null) return false;
  return serviceCost.cost === null && serviceCost.standardCost === undefined;
}

/** Returns the functions that run a test file's code and programs on an answer. */
function createCodeRunners(
  ctx: Context,
  checkedEntry: CheckedEntry,
  {
    response,
    output,
    text,
  }: Pick<EndedRun, 'response'> & { readonly output: string; readonly text: string },
  rounds: QuestionRounds | undefined,
): Pick<CheckedAnswer, 'buildContext' | 'runJavaScript' | 'checkWithNode' | 'runCommand'> {
  const buildContext: CheckedAnswer['buildContext'] = ({ needsPrompt }) =>
    buildCodeContext(ctx, checkedEntry, { response, output, needsPrompt });
  const runInRound = <T>(runProgram: () => Promise<T>): Promise<T> =>
    rounds ? rounds.runProgram(runProgram) : runProgram();

  return {
    buildContext,
    runJavaScript: async (script, value) => {
      const checks = await ctx.checks();
      const { code, config } = script;
      const caseContext = await buildContext({ needsPrompt: /\bprompt\b/u.test(code) });
      const context = { ...caseContext, ...(config !== undefined && { config }) };
      return await checks.perform('runJavaScript', script, { output: value, context });
    },
    checkWithNode: async (script, input) => {
      const { testCase, options } = await prepareProgramCase(ctx, checkedEntry, text);
      const checks = await ctx.nodeChecks();
      return await runInRound(() => checks.check(script, input, testCase, options));
    },
    runCommand: async (argv, input) => {
      const { testCase, options } = await prepareProgramCase(ctx, checkedEntry, input);
      return await runInRound(() => runCommand(argv, testCase, options));
    },
  };
}

/** Returns the case as JavaScript sees it, in promptfoo's form. */
async function buildCodeContext(
  ctx: Context,
  { request, entry: { file, testCase } }: CheckedEntry,
  {
    response,
    output,
    needsPrompt,
  }: {
    readonly response: JsonValue | undefined;
    readonly output: string;
    readonly needsPrompt: boolean;
  },
): Promise<JavaScriptInput['context']> {
  const { isAsPromptfoo = false } = file;
  const { metadata = {} } = testCase;
  const vars = { ...Object.fromEntries(testCase.text), ...testCase.vars };
  const prompt = needsPrompt ? await renderModelRequest(ctx, request) : undefined;
  const test = {
    description: testCase.name,
    vars,
    ...(isAsPromptfoo && { metadata, options: {} }),
  };

  return {
    vars,
    prompt: prompt ?? null,
    test,
    ...(isAsPromptfoo && toResponseContext(response, output)),
  };
}

/** Returns a case as the programs of its test file see it, and the options to start them with. */
async function prepareProgramCase(
  ctx: Context,
  { connection, request, entry: { file, testCase, model } }: CheckedEntry,
  output: string,
): Promise<{ readonly testCase: CaseFacts; readonly options: CaseProgramOptions }> {
  const { promptVersionId } = request;
  const definition = connection.isEmbedded
    ? await findVersionDefinition(ctx, promptVersionId)
    : undefined;
  const { collectKeyVariables } = await import('../../../models/catalogue/provider-keys.ts');
  const secrets = new Set(await collectKeyVariables(ctx));

  return {
    testCase: {
      name: testCase.name,
      inputs: Object.fromEntries(request.text),
      model: model ?? definition?.model ?? null,
      output,
    },
    options: { directory: path.dirname(file.path), env: ctx.env, secrets, signal: ctx.signal },
  };
}

/** Returns the parts of promptfoo's context that are about a provider's result. */
function toResponseContext(
  response: JsonValue | undefined,
  output: string,
): Pick<JavaScriptInput['context'], 'providerResponse' | 'metadata'> {
  const metadata = findOwnValue(response ?? null, 'metadata');
  return { providerResponse: response ?? { output }, ...(metadata !== undefined && { metadata }) };
}

/**
 * Returns the request to the model in promptfoo's form for code: one message as its text, several
 * as JSON.
 */
async function renderModelRequest(
  ctx: Context,
  { promptVersionId, text }: PreparedEntry['request'],
): Promise<string | undefined> {
  const definition = await findVersionDefinition(ctx, promptVersionId);
  if (definition === undefined || definition.imageInputs.length > 0) return undefined;

  const { previewFromTexts } = await import('../../../prompts/render/preview-prompt.ts');
  const { messages } = await previewFromTexts(definition, {
    inputs: {},
    texts: Object.fromEntries(text),
    images: [],
  });
  const turns = messages.map(({ role, content }) => ({
    role: role === 'model' ? 'assistant' : role,
    content: content.map(part => ('text' in part ? part.text : '')).join(''),
  }));
  const [first, ...otherTurns] = turns;

  return first?.role === 'user' && otherTurns.length === 0 ? first.content : JSON.stringify(turns);
}
