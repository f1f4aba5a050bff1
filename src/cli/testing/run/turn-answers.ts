import {
  isJsonList,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../files/formats/json.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import type { Job } from '../../jobs/job.ts';
import { type RequestResult, toNotRunResult } from '../../jobs/run-requests.ts';
import type { TestTurn } from '../cases/test-case.ts';
import type { TestEntry } from '../entry-result.ts';
import { type NunjucksPrompt, renderNunjucks } from '../promptfoo/render-nunjucks.ts';
import type { CheckTools } from './checked-answer.ts';
import { getTestedModelKey } from './earlier-turns.ts';
import type { PreparedEntry } from './prepare-entries.ts';
import { resolvePromptText } from './tested-version.ts';

/** The beginning of the keys of answers that are kept in variables. */
const STORED_KEY_PREFIX = 'stored:';

/** A repetition of a case that may take earlier answers. */
interface TurnEntry {
  readonly preparedEntry: PreparedEntry;
  readonly repetition: number;
}

/** A prompt and its answer from earlier in a conversation, in promptfoo's form. */
interface EarlierAnswer {
  readonly prompt: JsonValue;
  readonly input: JsonValue;
  readonly output: JsonValue;
}

/**
 * Sorts repetitions as promptfoo asks them: all repetitions of a test, with each model and prompt,
 * before the next test.
 */
export function sortJobsByTurn<J extends TurnEntry>(
  jobs: readonly J[],
): { readonly job: J; readonly turn: TestTurn }[] {
  const modelKeys = [
    ...new Set(jobs.map(({ preparedEntry }) => getTestedModelKey(preparedEntry.entry))),
  ];
  const jobsOfTurns = jobs.flatMap(job => {
    const { entry, firstRepetition } = job.preparedEntry;
    const { turn } = entry.testCase;
    if (!turn) return [];
    const modelIndex = modelKeys.indexOf(getTestedModelKey(entry));
    const repetitionIndex = job.repetition - firstRepetition;
    const order = [turn.testNumber, repetitionIndex, turn.index, modelIndex, turn.promptNumber];
    return [{ job, turn, order }];
  });
  return jobsOfTurns.toSorted((one, other) => compareLists(one.order, other.order));
}

function compareLists(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((number, position) => number !== other[position]);
  return index === -1 ? 0 : (one[index] ?? 0) - (other[index] ?? 0);
}

/** A case whose prompt has the answers so far. */
export interface PreparedTurn extends Required<Pick<Job, 'expectedCreation'>> {
  readonly preparedEntry: PreparedEntry;
  /** Called with the answer of the case, before and after its transforms. */
  readonly onAnswer: NonNullable<CheckTools['onAnswer']>;
}

/** The answers so far that the prompts of later cases take. */
export class TurnAnswers {
  readonly #ctx: Context;
  readonly #conversations = new Map<string, EarlierAnswer[]>();
  readonly #storedAnswers = new Map<string, JsonValue>();
  /** The first case without an answer, by the conversation or variable that lacks it. */
  readonly #unanswered = new Map<
    string,
    { readonly name: string; readonly repetition: Pick<RequestResult, 'fault' | 'isPostponed'> }
  >();

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /**
   * Returns the result of a turn that an earlier one without an answer keeps from being asked;
   * undefined if none does.
   */
  findNotRunResult({ entry }: PreparedEntry, turn: TestTurn): RequestResult | undefined {
    const keys = [findConversationKey(entry, turn), ...turn.usedAnswerVariables.map(getStoreKey)];
    const [unansweredTurn] = keys.flatMap(key =>
      key === undefined ? [] : (this.#unanswered.get(key) ?? []),
    );
    if (!unansweredTurn) return undefined;

    const { name, repetition } = unansweredTurn;
    const { fault, isPostponed } = repetition;
    const message = `not run: it uses the answer of ${name}, which has none`;
    const error = new CliError(message, {
      status: fault?.status ?? 'RUN_FAILED',
      exitCode: fault?.exitCode ?? EXIT.runFailed,
    });

    return { ...toNotRunResult(error), ...(isPostponed && { isPostponed }) };
  }

  /**
   * Returns an entry with the prompt that takes the answers so far, and the function to call with
   * its own answer.
   */
  async prepareTurn(preparedEntry: PreparedEntry, turn: TestTurn): Promise<PreparedTurn> {
    const { entry, request } = preparedEntry;
    const { file, testCase, model, testedModel } = entry;
    const key = findConversationKey(entry, turn);
    const renderedPrompt = await this.#render(turn, this.#buildVariables(turn, key), entry);

    const { convertRenderedPrompt } = await import(
      '../../../prompts/foreign/promptfoo/prompts/prompt-of-text.ts'
    );
    const text = convertRenderedPrompt(renderedPrompt.text, turn.template, file.name);
    const { promptVersionId } = await resolvePromptText(
      this.#ctx,
      { name: file.target, text },
      { model, config: testedModel?.config },
    );

    const inputs = [...request.text].map(
      ([name, value]) => [name, pickRenderedText(renderedPrompt.vars[name], value)] as const,
    );
    const turnRequest = { ...request, promptVersionId, text: new Map(inputs) };
    const vars = { ...testCase.vars, ...renderedPrompt.vars };

    return {
      preparedEntry: {
        ...preparedEntry,
        request: turnRequest,
        entry: { ...entry, testCase: { ...testCase, vars } },
      },
      expectedCreation: { promptVersionId, inputsDigest: buildRunBody(turnRequest).digest },
      onAnswer: (output, transformed) => {
        if (key !== undefined) this.#continueConversation(key, renderedPrompt.text, output);
        if (turn.answerVariable !== undefined && isTruthy(transformed)) {
          this.#storedAnswers.set(turn.answerVariable, transformed);
        }
      },
    };
  }

  /** Remembers that a turn has no answer, or that a later one has one. */
  recordEnd(
    { entry }: PreparedEntry,
    turn: TestTurn,
    repetition: Pick<RequestResult, 'fault' | 'isPostponed'>,
    { hasAnswer }: { readonly hasAnswer: boolean },
  ): void {
    const keys = [
      findConversationKey(entry, turn),
      turn.answerVariable === undefined ? undefined : getStoreKey(turn.answerVariable),
    ];
    for (const key of keys) {
      if (key === undefined) continue;
      if (hasAnswer && key.startsWith(STORED_KEY_PREFIX)) {
        this.#unanswered.delete(key);
      } else if (!hasAnswer && !this.#unanswered.has(key)) {
        this.#unanswered.set(key, { name: entry.testCase.name, repetition });
      }
    }
  }

  /**
   * Returns the variables of a turn with the answers so far.
   *
   * @param key the key of its conversation, if it continues one
   */
  #buildVariables(turn: TestTurn, key: string | undefined): JsonObject {
    const conversation = key === undefined ? undefined : (this.#conversations.get(key) ?? []);
    return {
      ...turn.vars,
      ...(conversation && { _conversation: conversation.map(answer => ({ ...answer })) }),
      ...Object.fromEntries(this.#storedAnswers),
    };
  }

  async #render(
    { template }: TestTurn,
    variables: JsonObject,
    { file }: TestEntry,
  ): Promise<NunjucksPrompt> {
    const createError = (message: string): CliError =>
      usageError(`${file.name}:${template.line}: Nunjucks can't render the prompt: ${message}`);
    const [rendered] = await renderNunjucks(this.#ctx, [
      { template: template.text, vars: variables },
    ]).catch((error: unknown) => {
      this.#ctx.signal.throwIfAborted();
      throw createError(getErrorMessage(error));
    });
    if (rendered?.fault !== undefined) throw createError(rendered.fault);
    return rendered ?? { text: '', vars: variables };
  }

  #continueConversation(key: string, prompt: string, output: JsonValue): void {
    const json = parseJson(prompt);
    const promptValue = json ?? prompt;
    const lastMessage = isJsonList(json) ? json.at(-1) : undefined;
    const content = isJsonObject(lastMessage) ? lastMessage['content'] : undefined;
    const answer = {
      prompt: promptValue,
      input: (isTruthy(content) ? content : undefined) ?? lastMessage ?? promptValue,
      output: isTruthy(output) ? output : '',
    };
    this.#conversations.set(key, [...(this.#conversations.get(key) ?? []), answer]);
  }
}

/** Returns the key of the conversation that a turn continues; undefined if it continues none. */
function findConversationKey(
  entry: TestEntry,
  { promptNumber, conversationKey }: TestTurn,
): string | undefined {
  if (conversationKey === undefined) return undefined;
  return JSON.stringify([getTestedModelKey(entry), promptNumber, conversationKey]);
}

function getStoreKey(name: string): string {
  return `${STORED_KEY_PREFIX}${name}`;
}

/** Returns true for a value that JavaScript counts as true. */
function isTruthy(value: JsonValue | undefined): value is JsonValue {
  return Boolean(value);
}

/**
 * Returns a filled-in variable as the text of an input; another value than a text leaves the input
 * as it was.
 */
function pickRenderedText(value: JsonValue | undefined, inputText: string): string {
  return typeof value === 'string' ? value : inputText;
}
