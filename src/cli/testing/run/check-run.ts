import path from 'node:path';
import { isJsonList, type JsonValue, ownValue, parseJson } from '../../../files/json.ts';
import type { Run } from '../../../wire/index.ts';
import { dollars } from '../../../wire/money.ts';
import type { JavaScriptInput } from '../../checks/javascript.ts';
import type { Context } from '../../context.ts';
import { type Failure, failureOf } from '../../core/failure.ts';
import type { Budget } from '../../creation/budget.ts';
import { EXIT } from '../../exit-codes.ts';
import { hasReachedNobody, isRefusalOfAll } from '../../jobs/job-errors.ts';
import type { RequestResult } from '../../jobs/run-requests.ts';
import { textOfOutputs } from '../../outputs/output-schema.ts';
import { reasonText } from '../../outputs/provider-fault.ts';
import { definitionOfVersion } from '../../targets/prompt-definition.ts';
import type { TestCase } from '../cases/test-case.ts';
import {
  type CheckedAnswer,
  checkExpectation,
  type Unmet,
  type UnmetExpectation,
} from '../expectations/expectation.ts';
import { transformed, valueText } from '../expectations/javascript-kind.ts';
import { runCommand } from '../expectations/run-command.ts';
import type { Repetition } from '../result.ts';
import type { Judge, JudgeLog } from './judge.ts';
import type { PreparedEntry } from './prepare-entries.ts';
import type { QuestionRounds } from './question-rounds.ts';

/** The parts of a test that expectations use. */
export interface CheckTools {
  readonly judge: Judge;
  readonly budget: Budget;
  /** The log of the judge's questions about this repetition. */
  readonly log: JudgeLog;
  /** Asks the questions of several repetitions together; if undefined, each is asked alone. */
  readonly rounds?: QuestionRounds | undefined;
  /** Called with the answer before and after its transforms; undefined if these fail. */
  readonly onAnswer?: (output: JsonValue, transformed: JsonValue | undefined) => void;
}

/** The entry that was run. */
type CheckedEntry = Pick<PreparedEntry, 'entry' | 'connection' | 'request'> &
  Partial<Pick<PreparedEntry, 'declaration'>>;

/** Checks a result. An error in a check is a fault of this repetition alone. */
export async function checkRun(
  ctx: Context,
  prepared: CheckedEntry,
  result: RequestResult,
  tools: CheckTools,
): Promise<Repetition> {
  const { run: original } = result;
  if (original === undefined) return { ...result, ...withRetryHint(result), mismatches: [] };
  const { testCase } = prepared.entry;
  if (original.runStatus === 'failed') return { ...result, mismatches: [failedRun(original, testCase)] };
  const { run, response } = prepared.entry.tested?.givesResults
    ? providerResult(original)
    : { run: original };
  const shown = { ...result, run };
  if (response !== undefined && (ownValue(response, 'output') ?? null) === null) {
    return { ...shown, mismatches: [mismatchOfCase(testCase, { message: 'the provider gave no output' })] };
  }
  const mismatches: UnmetExpectation[] = [];
  try {
    const untransformed = await checkedAnswer(ctx, prepared, { ...shown, response }, tools);
    const { output, result } = await transformAnswer(untransformed, prepared);
    tools.onAnswer?.(output, 'unmet' in result ? undefined : result.answer.value);
    if ('unmet' in result) return { ...shown, mismatches: [mismatchOfCase(testCase, result.unmet)] };
    const checks = testCase.expect.map(expectation => async () => {
      const mismatch = await checkExpectation(expectation, result.answer);
      if (mismatch !== undefined) mismatches.push(mismatch);
    });
    if (tools.rounds) {
      await tools.rounds.all(checks);
      mismatches.sort((one, other) => one.at - other.at);
    } else {
      for (const check of checks) await check();
    }
    return { ...shown, mismatches };
  } catch (error) {
    const isLeft = isRefusalOfAll(error) || hasReachedNobody(error);
    return { ...shown, mismatches, fault: faultOfCase(failureOf(error)), ...(isLeft && { isLeft }) };
  }
}

function isAddress({ declaration }: CheckedEntry): boolean {
  const entries = declaration === undefined ? undefined : parseJson(declaration);
  return isJsonList(entries) && entries.some(entry => ownValue(entry, 'address') !== undefined);
}

/** Removes the hint of a cap: a higher cap without `--resume` would pay for the other cases again. The summary has the whole hint. */
function faultOfCase(fault: Failure): Failure {
  return fault.exitCode === EXIT.capReached ? { ...fault, hints: [] } : fault;
}

/** Adds the hint that creates a case in doubt again, which never happens unasked. */
function withRetryHint({ isInDoubt = false, fault }: RequestResult): Pick<RequestResult, 'fault'> {
  if (fault === undefined) return { fault };
  if (!isInDoubt) return { fault: faultOfCase(fault) };
  const hint = 'To run it again, at its price: the same command with --resume --retry-unknown.';
  return { fault: { ...fault, hints: [...fault.hints, hint] } };
}

/** Applies the transform of the tested provider to an answer, then that of its case. `output` is what the provider gave. */
async function transformAnswer(
  answer: CheckedAnswer,
  prepared: CheckedEntry,
): Promise<{
  readonly output: CheckedAnswer['value'];
  readonly result: Awaited<ReturnType<typeof transformed>>;
}> {
  const { tested, testCase } = prepared.entry;
  let output = answer.value;
  let result: Awaited<ReturnType<typeof transformed>> = { answer };
  for (const script of [tested?.transform, testCase.transform]) {
    if (script === undefined || 'unmet' in result) continue;
    result = await transformed(result.answer, script);
    // In promptfoo, taking the output out of an address's response is part of the provider.
    const isPartOfProvider = script === tested?.transform && isAddress(prepared);
    if (isPartOfProvider && 'answer' in result) output = result.answer.value;
  }
  return { output, result };
}

/** Returns a mismatch of a whole case, before its expectations were checked. */
function mismatchOfCase({ line }: TestCase, unmet: Unmet): UnmetExpectation {
  return { line, at: -1, ...unmet };
}

/** Returns a failed run as a mismatch, since the case itself could be run. */
function failedRun({ outputs }: Run, testCase: TestCase): UnmetExpectation {
  const errors = outputs.filter(({ type }) => type === 'error').map(({ data }) => reasonText(data));
  const reasons = errors.length > 0 ? `: ${errors.join('; ')}` : '';
  return mismatchOfCase(testCase, { message: `the run failed${reasons}` });
}

/** Returns a run with the output of a provider's result in place of the result. */
function providerResult(run: Run): { readonly run: Run; readonly response: JsonValue } {
  const response = parseJson(textOfOutputs(run.outputs)) ?? null;
  const data = valueText(ownValue(response, 'output') ?? '', { isAsPromptfoo: true });
  return { run: { ...run, outputs: [{ type: 'text', data }] }, response };
}

async function checkedAnswer(
  ctx: Context,
  prepared: CheckedEntry,
  { run, seconds, response }: EndedRun,
  { judge, budget, log, rounds }: CheckTools,
): Promise<CheckedAnswer> {
  const { file, testCase } = prepared.entry;
  const output = textOfOutputs(run.outputs);
  const text = testCase.trims ? output.trim() : output;
  const context = ({ wantsPrompt }: { readonly wantsPrompt: boolean }): Promise<JavaScriptInput['context']> =>
    codeContext(ctx, prepared, { response, output, wantsPrompt });
  return {
    text,
    value: ownValue(response ?? null, 'output') ?? text,
    isAsPromptfoo: file.isAsPromptfoo ?? false,
    seconds: seconds ?? 0,
    tokens: run.tokens,
    dollars: () => costOfRun(prepared, run, budget),
    isUnpriced: () => {
      const { counted } = budget.spentOn(run.runId);
      if (counted === undefined || counted.tokens === null) return false;
      return counted.cost === null && counted.standardCost === undefined;
    },
    checks: await ctx.checks(),
    ask: question => judge.ask(question, log, rounds),
    values: new Map([...testCase.text, ...(testCase.data ?? [])]),
    context,
    javascript: async (script, value) => {
      const checks = await ctx.checks();
      const about = await context({ wantsPrompt: /\bprompt\b/u.test(script.code) });
      const { config } = script;
      const seen = { ...about, ...(config !== undefined && { config }) };
      return await checks.perform('javascript', script, { output: value, context: seen });
    },
    command: async (argv, output) => {
      const run = await commandOn(ctx, prepared, argv, output);
      return rounds ? rounds.program(run) : run();
    },
  };
}

interface EndedRun {
  readonly run: Run;
  readonly seconds: number | null;
  /** The whole result of a provider that returns more than an output. */
  readonly response?: JsonValue | undefined;
}

/** Returns the context that code gets of a case, in promptfoo's form. */
async function codeContext(
  ctx: Context,
  { request, entry: { file, testCase } }: CheckedEntry,
  {
    response,
    output,
    wantsPrompt,
  }: {
    readonly response: JsonValue | undefined;
    readonly output: string;
    readonly wantsPrompt: boolean;
  },
): Promise<JavaScriptInput['context']> {
  const { isAsPromptfoo = false } = file;
  const { metadata = {} } = testCase;
  const vars = { ...Object.fromEntries(testCase.text), ...testCase.vars };
  const prompt = wantsPrompt ? await modelRequestText(ctx, request) : undefined;
  const test = { description: testCase.name, vars, ...(isAsPromptfoo && { metadata, options: {} }) };
  return { vars, prompt: prompt ?? null, test, ...(isAsPromptfoo && responseContext(response, output)) };
}

/** Returns the cost of a run in US dollars; undefined if it is unknown. */
async function costOfRun(
  { connection }: CheckedEntry,
  run: Run,
  budget: CheckTools['budget'],
): Promise<number | undefined> {
  if (connection.recorder?.costOf) return connection.recorder.costOf(run.runId);
  await budget.countWaited(connection, run);
  const { cost } = budget.spentOn(run.runId);
  return cost === undefined ? undefined : dollars(cost);
}

/** Returns a function that runs a program of the test file on an output. */
async function commandOn(
  ctx: Context,
  { connection, request, entry: { file, testCase, model } }: CheckedEntry,
  argv: Parameters<typeof runCommand>[0],
  output: string,
): Promise<() => ReturnType<typeof runCommand>> {
  const { promptVersionId } = request;
  const definition = connection.embedded ? await definitionOfVersion(ctx, promptVersionId) : undefined;
  const facts = {
    name: testCase.name,
    inputs: Object.fromEntries(request.text),
    model: model ?? definition?.model ?? null,
    output,
  };
  const { keyVariables } = await import('../../../models/catalogue/report.ts');
  const secrets = new Set(await keyVariables(ctx));
  const directory = path.dirname(file.file);
  const options = { directory, env: ctx.env, secrets, signal: ctx.signal };
  return () => runCommand(argv, facts, options);
}

/** Returns the parts of promptfoo's context that are about a provider's result. */
function responseContext(
  response: JsonValue | undefined,
  output: string,
): Pick<JavaScriptInput['context'], 'providerResponse' | 'metadata'> {
  const metadata = ownValue(response ?? null, 'metadata');
  return { providerResponse: response ?? { output }, ...(metadata !== undefined && { metadata }) };
}

/** Returns the request to the model in promptfoo's form for code: one message as its text, several as JSON. */
async function modelRequestText(
  ctx: Context,
  { promptVersionId, text }: PreparedEntry['request'],
): Promise<string | undefined> {
  const definition = await definitionOfVersion(ctx, promptVersionId);
  if (definition === undefined || definition.imageInputs.length > 0) return undefined;
  const { previewFromTexts } = await import('../../../prompts/render/preview.ts');
  const { messages } = await previewFromTexts(definition, {
    inputs: {},
    texts: Object.fromEntries(text),
    images: [],
  });
  const turns = messages.map(({ role, content }) => ({
    role: role === 'model' ? 'assistant' : role,
    content: content.map(part => ('text' in part ? part.text : '')).join(''),
  }));
  const [first, ...others] = turns;
  return first?.role === 'user' && others.length === 0 ? first.content : JSON.stringify(turns);
}
