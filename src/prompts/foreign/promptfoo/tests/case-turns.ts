import type { ConvertedTurn } from '../../converted-prompt.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { ConfiguredTest } from './configured-test.ts';

/** A turn before it is known whose answers it takes. */
export type WrittenTurn = Omit<ConvertedTurn, 'after'>;

/** The cases whose answers later cases use. */
export class CaseAnswers {
  /** The index of the last case by what it answers; -1 for one that is left out. */
  readonly #last = new Map<string, number>();

  /** Returns true if a turn takes the answer of a case that is left out. */
  lacks(turn: WrittenTurn | undefined): boolean {
    return turn !== undefined && this.#before(turn).includes(-1);
  }

  lose(turn: WrittenTurn | undefined): void {
    for (const key of turn ? givenBy(turn) : []) this.#last.set(key, -1);
  }

  /** Adds a case by its index, and returns its turn. */
  add(turn: WrittenTurn, index: number): ConvertedTurn {
    const after = this.#before(turn);
    for (const key of givenBy(turn)) this.#last.set(key, index);
    return { ...turn, after };
  }

  #before({ conversation, takes }: WrittenTurn): number[] {
    const keys = [...takenFrom(conversation), ...takes.map(name => `variable ${name}`)];
    return keys.flatMap(key => this.#last.get(key) ?? []);
  }
}

function givenBy({ conversation, storesAs }: WrittenTurn): string[] {
  return [...takenFrom(conversation), ...(storesAs === undefined ? [] : [`variable ${storesAs}`])];
}

function takenFrom(conversation: string | undefined): string[] {
  return conversation === undefined ? [] : [`conversation ${conversation}`];
}

/**
 * Returns the place of a test in a sequence of tests that run one after another; undefined if none depends on
 * another.
 */
export function writeTurn(
  { options, metadata, vars }: ConfiguredTest,
  test: number,
  { template }: { readonly template: string | undefined },
  { variables, isForTest }: ConversionContext,
): WrittenTurn | undefined {
  if (!isForTest || template === undefined) return undefined;
  const isConversation = writesConversation(template);
  if (!isConversation && variables.stored.length === 0) return undefined;
  const { storesAs, isAlone } = options;
  const writtenTexts = [template, ...[...vars.values()].flat().map(({ text }) => text)];
  return {
    test,
    ...(isConversation &&
      isAlone !== true && { conversation: JSON.stringify(metadata['conversationId'] ?? null) }),
    ...(storesAs !== undefined && { storesAs }),
    takes: variables.stored.filter(name => writtenTexts.some(text => namesVariable(text, name))),
  };
}

/** Returns true if a template writes what was said before. */
function writesConversation(template: string): boolean {
  return namesVariable(template, '_conversation');
}

/** Returns true if a tag in a text has a word. */
export function namesVariable(text: string, name: string): boolean {
  return text
    .split(/\{[{%]/u)
    .slice(1)
    .some(part => (part.split(/[}%]\}/u, 1)[0] ?? '').split(/\W+/u).includes(name));
}
