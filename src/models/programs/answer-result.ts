import { type JsonValue, withoutUndefined } from '../../files/formats/json.ts';
import { toTextOrJson } from '../../files/formats/json-fields.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { shorten } from '../../utils/shorten.ts';
import type { AnswerFields } from '../declared-model.ts';
import {
  createFailedResult,
  type EngineJob,
  type EngineResult,
  estimateTokens,
  MAX_TEXT_MIB,
  type ProviderUsage,
} from '../engine.ts';

type AnswerCost = Pick<EngineResult, 'usage' | 'dollars'>;

/** Returns the result for the answer of a program or an address that succeeded. */
export async function readAnswerResult(
  job: EngineJob,
  fields: AnswerFields,
  answer: string,
): Promise<EngineResult> {
  const { text, fault, ...facts } = await evaluateAnswerFields(job, fields, answer);
  if (fault !== undefined) {
    return { ...createFailedResult(`${job.model.model} ${fault}`), ...facts };
  }

  if (Buffer.byteLength(text) > MAX_TEXT_MIB * 1024 * 1024) {
    return {
      ...createFailedResult(`${job.model.model} returned more than ${MAX_TEXT_MIB} MiB of text`),
      ...facts,
    };
  }

  return {
    outputs: [{ type: 'text', text }],
    tokens: sumTokens(facts) ?? estimateTokens(job.prompt.text + text),
    ...facts,
    hasFailed: false,
  };
}

/**
 * Reads the cost of a failed run and the reason from its output, if it has them. Agents that print
 * JSON put the reason there and nothing on standard error.
 *
 * @param stderr the beginning of standard error
 */
export async function readFailure(
  job: EngineJob,
  fields: AnswerFields,
  { answer, stderr }: { readonly answer: string; readonly stderr: string },
): Promise<AnswerCost & { readonly reason: string }> {
  const { usage, dollars, text = '' } = await evaluateAnswerFields(job, fields, answer);
  const output = fields.output === undefined ? '' : formatBeginning(text);
  const reasons = [stderr.trim(), output].filter(reason => reason !== '');
  const reason = reasons.length === 0 ? formatBeginning(answer) : reasons.join('; ');
  return withoutUndefined({ reason, usage, dollars });
}

function sumTokens({ usage }: AnswerCost): number | undefined {
  return usage && usage.input + usage.output;
}

async function evaluateAnswerFields(
  job: EngineJob,
  { output, cost, tokens }: AnswerFields,
  answer: string,
): Promise<
  AnswerCost & ({ text: string; fault?: undefined } | { text?: undefined; fault: string })
> {
  const expressions = withoutUndefined({
    output,
    cost,
    inputTokens: tokens?.input,
    outputTokens: tokens?.output,
    cachedTokens: tokens?.cached,
  });
  if (Object.keys(expressions).length === 0) return { text: answer };

  const selected = await selectFields(job, answer, expressions);
  if ('fault' in selected) {
    return output === undefined
      ? { text: answer }
      : { fault: describeUnreadableAnswer(selected.fault, answer) };
  }

  const { found: values } = selected;
  const facts = { ...readUsage(values), ...readDollars(values['cost']) };
  if (output === undefined) return { text: answer, ...facts };

  const value = values['output'] ?? null;
  if (value === null) {
    return { fault: describeUnreadableAnswer(`it has no \`${output}\``, answer), ...facts };
  }

  return { text: toTextOrJson(value), ...facts };
}

async function selectFields(
  job: EngineJob,
  answer: string,
  expressions: Readonly<Record<string, string>>,
) {
  try {
    return await job.selectValues(answer, expressions);
  } catch (error) {
    if (error instanceof LimitExceededError) return { fault: getErrorMessage(error) };
    throw error;
  }
}

/** Maximum length of an answer in a message. */
const MAX_SHOWN_ANSWER_LENGTH = 300;

function describeUnreadableAnswer(reason: string, answer: string): string {
  const start = formatBeginning(answer);
  return `returned an answer that can't be read: ${reason}; ${start === '' ? 'it is empty' : `it begins with ${start}`}`;
}

function formatBeginning(text: string): string {
  return shorten(text.trim(), MAX_SHOWN_ANSWER_LENGTH);
}

function readUsage({
  inputTokens,
  outputTokens,
  cachedTokens,
}: Readonly<Record<string, JsonValue>>): {
  usage?: ProviderUsage;
} {
  const input = toAmount(inputTokens);
  const output = toAmount(outputTokens);
  if (input === undefined || output === undefined) return {};
  return { usage: { input, output, cached: Math.min(toAmount(cachedTokens) ?? 0, input) } };
}

function readDollars(cost: JsonValue | undefined): { dollars?: number } {
  const dollars = toAmount(cost);
  return dollars === undefined ? {} : { dollars };
}

/** Returns a number of at least 0; undefined for anything else. */
function toAmount(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
