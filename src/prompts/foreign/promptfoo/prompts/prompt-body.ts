import { FileFault } from '../../../../files/formats/file-fault.ts';
import { withEndMark } from '../../file-texts.ts';
import { END_MARK, listInputs, listTestedInputs, type Piece } from '../../template-pieces.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { mentionsEnvironment } from '../nunjucks/fill-variables.ts';
import type { ConfiguredTests } from '../tests/configured-test.ts';
import { hasOtherEquality, listVariablesOfKind, takesNunjucks } from '../tests/variable-kinds.ts';
import { BeyondPromptFile, type ConfiguredPrompt } from './configured-prompt.ts';
import { parseDumpedChat, parsePromptMessages, readPromptJson } from './prompt-messages.ts';

/** The messages of a prompt, or the template that makes them for each case. */
export interface PromptBody {
  readonly body: readonly Piece[];
  readonly template?: string | undefined;
  readonly isLeftOut: boolean;
}

/**
 * Returns the messages of a prompt. If the tests are run, one that can't be expressed is a
 * template, or left out.
 */
export function readPromptBody(
  prompt: ConfiguredPrompt,
  conversion: ConversionContext,
): PromptBody {
  const { at, program } = prompt;
  if (program) {
    return { body: [], isLeftOut: conversion.omitUnlessAllowed(at, 'the prompt is a program') };
  }
  try {
    if (!conversion.isForTest) return { body: parsePromptMessages(prompt), isLeftOut: false };
    const chat = parseDumpedChat(prompt.text);
    const body = chat
      ? parsePromptMessages({ ...prompt, text: chat.text })
      : parsePromptMessages(prompt, {
          json: readPromptJson(prompt, conversion),
          takesBlocks: true,
        });
    return { body, isLeftOut: false };
  } catch (error) {
    if (!conversion.isForTest || !(error instanceof FileFault)) throw error;
    if (error instanceof BeyondPromptFile && !mentionsEnvironment(prompt.text)) {
      return { body: [], template: readPromptTemplate(prompt, conversion), isLeftOut: false };
    }
    const { file, line, column, what } = error;
    conversion.reportOmission({ file, line, column }, what);
    return { body: [], isLeftOut: true };
  }
}

/**
 * Returns a template instead of messages if promptfoo would render the tests' variables in a
 * different way.
 */
export function toRenderedBody(
  prompt: ConfiguredPrompt,
  plainBody: PromptBody,
  tests: ConfiguredTests,
  conversion: ConversionContext,
): PromptBody {
  const isSettled =
    plainBody.isLeftOut || plainBody.template !== undefined || prompt.program !== undefined;
  if (isSettled || !conversion.isForTest) return plainBody;
  const isRendered =
    conversion.variables.stored.length > 0 ||
    losesKinds(prompt, plainBody.body, tests, conversion) ||
    (readPromptJson(prompt, conversion) === undefined &&
      takesNunjucks(tests, [...listInputs(plainBody.body), ...listTestedInputs(plainBody.body)]));
  return isRendered
    ? { ...plainBody, body: [], template: readPromptTemplate(prompt, conversion) }
    : plainBody;
}

/** Returns the text that promptfoo renders: a prompt in a YAML file is JSON there. */
function readPromptTemplate(prompt: ConfiguredPrompt, conversion: ConversionContext): string {
  const json = readPromptJson(prompt, conversion);
  return json === undefined ? prompt.text : JSON.stringify(json);
}

/** Returns true if the prompt distinguishes values of a variable that are the same as text. */
function losesKinds(
  { text }: ConfiguredPrompt,
  body: readonly Piece[],
  tests: ConfiguredTests,
  conversion: ConversionContext,
): boolean {
  const structured = listVariablesOfKind(tests, json => typeof json === 'object' && json !== null);

  // As texts, false and 0 are not empty.
  const falsy = listVariablesOfKind(tests, json => json === false || json === 0);
  const isMissable = (name: string): boolean => tests.all.some(({ vars }) => !vars.has(name));

  return (
    [...listInputs(body), ...listTestedInputs(body)].some(name => structured.includes(name)) ||
    (parseDumpedChat(text)?.names ?? []).some(
      name => conversion.variables.json.includes(name) || isMissable(name),
    ) ||
    listTestedInputs(body).some(name => falsy.includes(name)) ||
    body.some(piece => comparesAnotherKind(piece, tests))
  );
}

/**
 * Returns true if a tag compares a variable with a text, and Nunjucks has another result for one of
 * its values.
 */
function comparesAnotherKind(piece: Piece, tests: ConfiguredTests): boolean {
  if (!('tag' in piece) || piece.tests === undefined || piece.equals === undefined) return false;
  return hasOtherEquality(tests, piece.tests, piece.equals);
}

/** Returns a body that keeps the blanks at its ends, as promptfoo does. */
export function withBlanks(body: readonly Piece[]): readonly Piece[] {
  const [first] = body;
  // A prompt file needs a template.
  if (body.length === 1 && first && 'text' in first && first.text === '') return [END_MARK];
  const marked = first && 'text' in first && /^\s/u.test(first.text) ? [END_MARK, ...body] : body;
  return withEndMark(marked);
}
