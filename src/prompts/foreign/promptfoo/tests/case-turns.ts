import type { ConvertedTurn } from '../../converted-prompt.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { ConfiguredTest } from './configured-test.ts';

/** Stands for the index of a case that is left out. */
const LEFT_OUT = -1;

/** A turn before it is known whose answers it takes. */
export type WrittenTurn = Omit<ConvertedTurn, 'afterIndices'>;

/**
 * Returns the position of a test in a sequence of tests that run one after another; undefined if
 * none depends on another.
 */
export function findTurn(
  { options, metadata, vars }: ConfiguredTest,
  testNumber: number,
  { template }: { readonly template: string | undefined },
  { variables, isForTest }: ConversionContext,
): WrittenTurn | undefined {
  if (!isForTest || template === undefined) return undefined;

  const isConversation = mentionsVariable(template, '_conversation');
  if (!isConversation && variables.stored.length === 0) return undefined;

  const { storesAs, leavesOutConversation = false } = options;
  const texts = [template, ...[...vars.values()].flat().map(({ text }) => text)];

  return {
    testNumber,
    ...(isConversation &&
      !leavesOutConversation && {
        conversationKey: JSON.stringify(metadata['conversationId'] ?? null),
      }),
    ...(storesAs !== undefined && { answerVariable: storesAs }),
    usedAnswerVariables: variables.stored.filter(name =>
      texts.some(text => mentionsVariable(text, name)),
    ),
  };
}

/** Returns true if a tag in a text has the name of a variable. */
export function mentionsVariable(text: string, name: string): boolean {
  return text
    .split(/\{[{%]/u)
    .slice(1)
    .some(part => (part.split(/[}%]\}/u, 1)[0] ?? '').split(/\W+/u).includes(name));
}

/**
 * The cases whose answers later cases use: the last of each conversation, and the one behind each
 * variable.
 */
export class CaseAnswers {
  /** The index of each case by the key of its answer; `LEFT_OUT` for a case that is left out. */
  readonly #cases = new Map<string, number>();

  /** Returns true if a turn takes the answer of a case that is left out. */
  lacksAnswerFor(turn: WrittenTurn | undefined): boolean {
    return turn !== undefined && this.#findPrecedingCases(turn).includes(LEFT_OUT);
  }

  /** Records that the case of a turn is left out. */
  leaveOut(turn: WrittenTurn | undefined): void {
    for (const key of turn ? listAnswerKeys(turn) : []) this.#cases.set(key, LEFT_OUT);
  }

  /** Adds a case by its index, and returns its turn. */
  add(turn: WrittenTurn, index: number): ConvertedTurn {
    const afterIndices = this.#findPrecedingCases(turn);
    for (const key of listAnswerKeys(turn)) this.#cases.set(key, index);
    return { ...turn, afterIndices };
  }

  #findPrecedingCases({ conversationKey, usedAnswerVariables }: WrittenTurn): number[] {
    const keys = [
      ...listConversationKeys(conversationKey),
      ...usedAnswerVariables.map(toVariableKey),
    ];
    return keys.flatMap(key => this.#cases.get(key) ?? []);
  }
}

/**
 * Returns the keys of the conversation that an answer continues, and of the variable in which it is
 * stored.
 */
function listAnswerKeys({ conversationKey, answerVariable }: WrittenTurn): string[] {
  const storeKeys = answerVariable === undefined ? [] : [toVariableKey(answerVariable)];
  return [...listConversationKeys(conversationKey), ...storeKeys];
}

function listConversationKeys(conversation: string | undefined): string[] {
  return conversation === undefined ? [] : [`conversation ${conversation}`];
}

function toVariableKey(name: string): string {
  return `variable ${name}`;
}
