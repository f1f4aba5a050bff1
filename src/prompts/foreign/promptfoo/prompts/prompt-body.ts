import { FileFault } from '../../../../files/formats/file-fault.ts';
import { withEndMark } from '../../file-texts.ts';
import { END_MARK, listInputs, listTestedInputs, type Piece } from '../../template-pieces.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { mentionsEnvironment } from '../nunjucks/fill-variables.ts';
import type { ConfiguredTests } from '../tests/configured-test.ts';
import {
  comparesOtherwiseInNunjucks,
  hasNunjucksValue,
  listVariablesOfKind,
} from '../tests/variable-kinds.ts';
import { type ConfiguredPrompt, UnsupportedPromptFault } from './configured-prompt.ts';
import { parseDumpedChat, parsePromptMessages, readPromptJson } from './prompt-messages.ts';

/** The messages of a prompt, or the template that makes them for each case. */
export interface PromptBody {
  readonly pieces: readonly Piece[];
  readonly template?: string | undefined;
  readonly isLeftOut: boolean;
}

/**
 * Returns the messages of a prompt. If the tests are run, a prompt that can't be expressed becomes
 * a template, or is left out.
 */
export function readPromptBody(
  prompt: ConfiguredPrompt,
  conversion: ConversionContext,
): PromptBody {
  const { place, program } = prompt;
  if (program) {
    const isLeftOut = conversion.omitUnlessAllowed(place, 'the prompt is a program');
    return { pieces: [], isLeftOut };
  }

  try {
    if (!conversion.isForTest) return { pieces: parsePromptMessages(prompt), isLeftOut: false };
    const chat = parseDumpedChat(prompt.text);
    if (chat) {
      return { pieces: parsePromptMessages({ ...prompt, text: chat.text }), isLeftOut: false };
    }
    const json = readPromptJson(prompt, conversion);
    return {
      pieces: parsePromptMessages(prompt, { json, convertsBlocks: true }),
      isLeftOut: false,
    };
  } catch (error) {
    if (!conversion.isForTest || !(error instanceof FileFault)) throw error;
    if (error instanceof UnsupportedPromptFault && !mentionsEnvironment(prompt.text)) {
      return { pieces: [], template: readPromptTemplate(prompt, conversion), isLeftOut: false };
    }
    const { file, line, column, problem } = error;
    conversion.reportOmission({ file, line, column }, problem);
    return { pieces: [], isLeftOut: true };
  }
}

/**
 * Replaces the messages of a prompt by a template if promptfoo would render the tests' variables in
 * another way than a prompt file.
 */
export function replaceByTemplateIfNeeded(
  prompt: ConfiguredPrompt,
  plainBody: PromptBody,
  tests: ConfiguredTests,
  conversion: ConversionContext,
): PromptBody {
  const isAlreadyDecided =
    plainBody.isLeftOut || plainBody.template !== undefined || prompt.program !== undefined;
  if (isAlreadyDecided || !conversion.isForTest) return plainBody;
  return needsTemplate(prompt, plainBody.pieces, tests, conversion)
    ? { ...plainBody, pieces: [], template: readPromptTemplate(prompt, conversion) }
    : plainBody;
}

/**
 * Returns true if only Nunjucks renders a prompt with the variables of the tests as promptfoo does.
 */
function needsTemplate(
  prompt: ConfiguredPrompt,
  pieces: readonly Piece[],
  tests: ConfiguredTests,
  conversion: ConversionContext,
): boolean {
  if (conversion.variableNames.stored.length > 0) return true;
  if (distinguishesKinds(prompt, pieces, tests, conversion)) return true;
  if (readPromptJson(prompt, conversion) !== undefined) return false;
  return hasNunjucksValue(tests, [...listInputs(pieces), ...listTestedInputs(pieces)]);
}

/** Returns the text that promptfoo renders: a prompt in a YAML file is JSON there. */
function readPromptTemplate(prompt: ConfiguredPrompt, conversion: ConversionContext): string {
  const json = readPromptJson(prompt, conversion);
  return json === undefined ? prompt.text : JSON.stringify(json);
}

/** Returns true if the prompt depends on the types of values, which are lost in texts. */
function distinguishesKinds(
  { text }: ConfiguredPrompt,
  pieces: readonly Piece[],
  configuredTests: ConfiguredTests,
  conversion: ConversionContext,
): boolean {
  const testedInputs = listTestedInputs(pieces);
  const structuredNames = listVariablesOfKind(
    configuredTests,
    json => typeof json === 'object' && json !== null,
  );
  const inputs = [...listInputs(pieces), ...testedInputs];
  if (inputs.some(name => structuredNames.includes(name))) return true;

  const isMissingInATest = (name: string): boolean =>
    configuredTests.tests.some(({ vars }) => !vars.has(name));
  const dumpedNames = parseDumpedChat(text)?.names ?? [];
  if (
    dumpedNames.some(name => conversion.variableNames.json.includes(name) || isMissingInATest(name))
  ) {
    return true;
  }

  // As texts, `false` and `0` are not empty, so that a tag would take them for true.
  const falsyNames = listVariablesOfKind(configuredTests, json => json === false || json === 0);
  if (testedInputs.some(name => falsyNames.includes(name))) return true;
  return pieces.some(piece => comparesOtherKind(piece, configuredTests));
}

/**
 * Returns true if a tag compares a variable with a text, and Nunjucks has another result for one of
 * its values.
 */
function comparesOtherKind(piece: Piece, tests: ConfiguredTests): boolean {
  if (!('tag' in piece) || piece.testedInput === undefined || piece.comparedText === undefined) {
    return false;
  }
  return comparesOtherwiseInNunjucks(tests, piece.testedInput, piece.comparedText);
}

/** Returns pieces that keep the blanks at their ends, as promptfoo does. */
export function withBlanks(pieces: readonly Piece[]): readonly Piece[] {
  const [first] = pieces;
  if (!first || !('text' in first)) return withEndMark(pieces);
  // A prompt file needs a template.
  if (pieces.length === 1 && first.text === '') return [END_MARK];
  return withEndMark(/^\s/u.test(first.text) ? [END_MARK, ...pieces] : pieces);
}
