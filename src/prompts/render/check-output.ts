import type { JsonObject, JsonValue } from '../../files/formats/json.ts';
import { JsonLimitError, parseBoundedJson } from '../../utils/bounded-json.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { BOUNDS } from '../bounds.ts';
import type { PromptOutput } from '../definition.ts';
import { createSchemaChecker } from '../schemas/schema-checker.ts';

export interface CheckedOutput {
  /**
   * The model's answer; the code block that `extract` names; or JSON that matches, without a code
   * fence around all of it.
   */
  readonly text: string;
  /**
   * The first mismatch with its place. The run has then failed, and `text` is the unchanged answer.
   */
  readonly fault?: string;
}

/**
 * Returns true if a prompt's answers are JSON, which is requested from the model and checked here.
 */
export function isJsonOutput({ format, schema }: PromptOutput): boolean {
  return schema !== undefined || format === 'json';
}

/** Returns true if the output may differ from the model's answer. */
export function changesAnswer(output: PromptOutput): boolean {
  return isJsonOutput(output) || output.extract !== undefined;
}

/**
 * Checks an answer, even if the model claims to follow the schema. A schema that can't be used is a
 * fault too.
 *
 * @throws {LimitExceededError} if the check takes longer than `limitMs`
 */
export async function checkOutput(
  { output }: { readonly output: PromptOutput },
  text: string,
  limitMs: number = BOUNDS.checkMs,
): Promise<CheckedOutput> {
  const block = output.extract && findCodeBlock(text, output.extract);
  if (!isJsonOutput(output)) return { text: block ?? text };

  const jsonText = block ?? withoutFence(text);
  const parsedOutput = parseOutput(jsonText);
  if ('fault' in parsedOutput) return { text, fault: parsedOutput.fault };

  const fault =
    output.schema && (await findSchemaMismatch(output.schema, parsedOutput.value, limitMs));
  return fault === undefined ? { text: jsonText } : { text, fault };
}

/** Removes a code fence with nothing around it. */
function withoutFence(text: string): string {
  const lines = text.trim().split('\n');
  const [, openingFence] = /^(`{3,}|~{3,})[\w+-]*$/u.exec(lines[0]?.trim() ?? '') ?? [];
  const closingFence = lines.at(-1)?.trim() ?? '';
  if (openingFence === undefined || lines.length < 3) return text;

  // The closing fence may be longer, as in CommonMark; a shorter one belongs to the content.
  const isClosed = closingFence.startsWith(openingFence) && /^(?:`+|~+)$/u.test(closingFence);
  return isClosed ? lines.slice(1, -1).join('\n') : text;
}

function parseOutput(text: string): { value: JsonValue } | { fault: string } {
  try {
    return { value: parseBoundedJson(text, BOUNDS.json) as JsonValue };
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw new LimitExceededError(`the output ${error.message}`);
    }
    return { fault: `the output is not JSON, at "": ${getErrorMessage(error)}` };
  }
}

async function findSchemaMismatch(
  schema: JsonObject,
  value: JsonValue,
  limitMs: number,
): Promise<string | undefined> {
  const check = await createSchemaChecker(limitMs);
  const { pointer, message, isSchemaFault } = check(schema, value) ?? {};
  if (message === undefined || isSchemaFault) return message;
  return `the output does not match output.schema at "${pointer}": ${message}`;
}

/** Returns the content of the first or last closed code block; undefined if there is none. */
function findCodeBlock(text: string, position: 'first' | 'last'): string | undefined {
  const lines = text.replace(/\r\n/gu, '\n').split('\n');
  // Fences that no later line closes, so that no text makes the search quadratic.
  const unclosedFences = new Set<string>();
  let lastBlock: string | undefined;
  for (let index = 0; index < lines.length; index += 1) {
    const [, fence] = /^(`{3,})\w*$/u.exec(lines[index] ?? '') ?? [];
    if (fence === undefined || unclosedFences.has(fence)) continue;

    const end = lines.indexOf(fence, index + 1);
    if (end === -1) {
      unclosedFences.add(fence);
      continue;
    }
    lastBlock = lines.slice(index + 1, end).join('\n');
    if (position === 'first') return lastBlock;
    index = end;
  }

  return lastBlock;
}
