import { PastBound } from '../../files/bounds/past-bound.ts';
import { messageOf } from '../../files/error-utils.ts';
import { type JsonValue, textOrJson } from '../../files/json.ts';
import type { AnswerFields } from '../declared.ts';
import { type EngineJob, type EngineResult, failedWith, type ProviderUsage, roughTokens } from '../engine.ts';

/** The usage and cost in an answer. */
type AnswerCost = Pick<EngineResult, 'usage' | 'dollars'>;

/** Returns the result for the answer of a program or an address that succeeded. */
export async function readResult(
  job: EngineJob,
  fields: AnswerFields,
  answer: string,
): Promise<EngineResult> {
  const { text, fault, ...facts } = await readFields(job, fields, answer);
  if (fault !== undefined) return { ...failedWith(`${job.model.model} ${fault}`), ...facts };
  return {
    outputs: [{ type: 'text', text }],
    tokens: tokensOf(facts) ?? roughTokens(job.prompt.text + text),
    ...facts,
    failed: false,
  };
}

/** Reads the cost of a failed run, as far as its output has it. */
export async function readCost(job: EngineJob, fields: AnswerFields, answer: string): Promise<AnswerCost> {
  const { cost, tokens } = fields;
  const { usage, dollars } = await readFields(
    job,
    { ...(cost && { cost }), ...(tokens && { tokens }) },
    answer,
  );
  return { ...(usage && { usage }), ...(dollars !== undefined && { dollars }) };
}

function tokensOf({ usage }: AnswerCost): number | undefined {
  return usage && usage.input + usage.output;
}

async function readFields(
  job: EngineJob,
  { output, cost, tokens }: AnswerFields,
  answer: string,
): Promise<AnswerCost & ({ text: string; fault?: undefined } | { text?: undefined; fault: string })> {
  const expressions = {
    ...(output !== undefined && { output }),
    ...(cost !== undefined && { cost }),
    ...(tokens && { input: tokens.input, tokensOut: tokens.output }),
    ...(tokens?.cached !== undefined && { cached: tokens.cached }),
  };
  if (Object.keys(expressions).length === 0) return { text: answer };
  const selected = await selectFields(job, answer, expressions);
  if ('fault' in selected) {
    return output === undefined ? { text: answer } : { fault: unreadableAnswer(selected.fault, answer) };
  }
  const { found } = selected;
  const facts = { ...usageFromCounts(found), ...dollarsOf(found['cost']) };
  if (output === undefined) return { text: answer, ...facts };
  const value = found['output'] ?? null;
  if (value === null) return { fault: unreadableAnswer(`it has no \`${output}\``, answer), ...facts };
  return { text: textOrJson(value), ...facts };
}

async function selectFields(job: EngineJob, answer: string, expressions: Readonly<Record<string, string>>) {
  try {
    return await job.select(answer, expressions);
  } catch (error) {
    if (error instanceof PastBound) return { fault: messageOf(error) };
    throw error;
  }
}

const SHOWN = 300;

function unreadableAnswer(why: string, answer: string): string {
  const start = answer.trim().slice(0, SHOWN);
  const rest = answer.trim().length > SHOWN ? '…' : '';
  return `gave an answer that can't be read: ${why}; ${start === '' ? 'it is empty' : `it begins with ${start}${rest}`}`;
}

function usageFromCounts({ input, tokensOut, cached }: Readonly<Record<string, JsonValue>>): {
  usage?: ProviderUsage;
} {
  const [read, written] = [amountOf(input), amountOf(tokensOut)];
  if (read === undefined || written === undefined) return {};
  return { usage: { input: read, output: written, cached: Math.min(amountOf(cached) ?? 0, read) } };
}

function dollarsOf(cost: JsonValue | undefined): { dollars?: number } {
  const dollars = amountOf(cost);
  return dollars === undefined ? {} : { dollars };
}

/** Returns a number of at least 0; undefined for anything else. */
function amountOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
