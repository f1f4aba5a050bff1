import type { ConvertedTurn } from '../../converted-prompt.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { ConfiguredTest } from './configured-test.ts';

/** Stands for the index of a case that is left out. */
const LEFT_OUT = -1;

/** A turn whose preceding cases are not known yet. */
export type UnlinkedTurn = Omit<ConvertedTurn, 'afterIndices'>;

/**
 * Returns the position of a test in a sequence of tests that run one after another; undefined if
 * none depends on another.
 */
export function findTurn(
  { options, metadata, vars }: ConfiguredTest,
  testNumber: number,
  { template }: { readonly template: string | undefined },
  { variableNames, isForTest }: ConversionContext,
): UnlinkedTurn | undefined {
  if (!isForTest || template === undefined) return undefined;

  const isConversation = mentionsVariable(template, '_conversation');
  if (!isConversation && variableNames.stored.length === 0) return undefined;

  const { answerVariable, leavesOutConversation = false } = options;
  const texts = [template, ...[...vars.values()].flat().map(({ text }) => text)];

  return {
    testNumber,
    ...(isConversation &&
      !leavesOutConversation && {
        conversationKey: JSON.stringify(metadata['conversationId'] ?? null),
      }),
    ...(answerVariable !== undefined && { answerVariable }),
    usedAnswerVariables: variableNames.stored.filter(name =>
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
  readonly #indicesByAnswerKey = new Map<string, number>();

  /** Returns true if a turn uses the answer of a case that is left out. */
  lacksAnswerFor(turn: UnlinkedTurn | undefined): boolean {
    return turn !== undefined && this.#findPrecedingCases(turn).includes(LEFT_OUT);
  }

  /** Records that the case of a turn is left out. */
  leaveOut(turn: UnlinkedTurn | undefined): void {
    for (const key of turn ? listAnswerKeys(turn) : []) this.#indicesByAnswerKey.set(key, LEFT_OUT);
  }

  /** Adds the case of a turn by its index, and returns the turn with its preceding cases. */
  add(turn: UnlinkedTurn, index: number): ConvertedTurn {
    const afterIndices = this.#findPrecedingCases(turn);
    for (const key of listAnswerKeys(turn)) this.#indicesByAnswerKey.set(key, index);
    return { ...turn, afterIndices };
  }

  #findPrecedingCases({ conversationKey, usedAnswerVariables }: UnlinkedTurn): number[] {
    const keys = [
      ...listConversationKeys(conversationKey),
      ...usedAnswerVariables.map(toVariableKey),
    ];
    return keys.flatMap(key => this.#indicesByAnswerKey.get(key) ?? []);
  }
}

/**
 * Returns the keys of the conversation that an answer continues, and of the variable in which it is
 * stored.
 */
function listAnswerKeys({ conversationKey, answerVariable }: UnlinkedTurn): string[] {
  const storeKeys = answerVariable === undefined ? [] : [toVariableKey(answerVariable)];
  return [...listConversationKeys(conversationKey), ...storeKeys];
}

function listConversationKeys(conversationKey: string | undefined): string[] {
  return conversationKey === undefined ? [] : [`conversation ${conversationKey}`];
}

function toVariableKey(name: string): string {
  return `variable ${name}`;
}
