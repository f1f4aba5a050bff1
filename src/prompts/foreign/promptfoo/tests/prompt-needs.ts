import { isJsonList, type JsonObject } from '../../../../files/formats/json.ts';
import { listInputs, listTestedInputs, type Piece } from '../../template-pieces.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { ConfiguredPrompt } from '../prompts/configured-prompt.ts';
import type { PromptBody } from '../prompts/prompt-body.ts';
import { readPromptJson } from '../prompts/prompt-messages.ts';
import type { PromptNames } from '../prompts/prompt-references.ts';
import type { ConfiguredModels } from '../providers/configured-models.ts';
import type { JsonVariables } from './variable-kinds.ts';

/** A prompt with the inputs that it and its models need. */
export interface PromptNeeds {
  readonly prompt: PromptNames;
  /** The template of Nunjucks that makes it; undefined if a prompt file expresses it. */
  readonly template: string | undefined;
  /** The names of its inputs. */
  readonly inputs: readonly string[];
  /** The inputs that programs alone read, as JSON. */
  readonly jsonInputs: readonly string[];
  /** The inputs whose Nunjucks promptfoo renders. */
  readonly renderedInputs: readonly string[];
  /** True if promptfoo renders every variable, used or not. */
  readonly rendersEachVariable: boolean;
  /** The parts of the prompt if it is a text with variables. */
  readonly plainPrompt: readonly Exclude<Piece, { readonly tag: string }>[] | undefined;
  /** True if code sees the variables of every case. */
  readonly hasCode: boolean;
}

/** A prompt, the models that it runs with, and the variables that are not texts. */
interface ConvertedParts {
  readonly prompt: ConfiguredPrompt;
  readonly body: PromptBody;
  readonly models: ConfiguredModels;
  readonly jsonVariables: JsonVariables;
}

/**
 * Returns the inputs that the prompt, its programs and its addresses read, and reports those whose
 * values they can't distinguish.
 */
export function findPromptNeeds(parts: ConvertedParts, conversion: ConversionContext): PromptNeeds {
  const { prompt, body, models } = parts;
  const { pieces, template } = body;
  const promptInputs = [...new Set([...listInputs(pieces), ...listTestedInputs(pieces)])];
  const jsonInputs = findJsonInputs(parts, conversion);
  const inputs = [
    ...new Set([
      ...promptInputs,
      ...(mayUseAnyVariable(parts) ? models.tests.variableNames : []),
      ...conversion.inputsWithDefault.keys(),
      ...conversion.requestBodies.keys(),
    ]),
  ];

  const hasProgram = prompt.program !== undefined;
  const rendersEachVariable = hasProgram || readPromptJson(prompt, conversion) === undefined;
  const renderedPromptInputs = rendersEachVariable && template === undefined ? promptInputs : [];

  return {
    prompt,
    template,
    inputs,
    jsonInputs,
    renderedInputs: hasProgram ? inputs : renderedPromptInputs,
    rendersEachVariable,
    plainPrompt: findPlainPrompt(prompt, body),
    hasCode: models.askedProviders.some(({ transform }) => transform !== undefined),
  };
}

/** Returns true if a program, an address or a template of Nunjucks gets the variables. */
function mayUseAnyVariable({ prompt, body, models }: ConvertedParts): boolean {
  return (
    models.allProviders.some(({ entry }) => entry) ||
    prompt.program !== undefined ||
    body.template !== undefined
  );
}

/**
 * Returns the inputs that programs read as JSON. Reports variables with texts and other values that
 * a program can't tell apart.
 */
function findJsonInputs(
  { prompt, body: { pieces }, models, jsonVariables }: ConvertedParts,
  conversion: ConversionContext,
): string[] {
  const { allProviders, tests } = models;
  const readsJson = allProviders.some(({ entry }) =>
    hasProgramArgument(entry, JSON.stringify(jsonVariables.names)),
  );
  if (!readsJson) return [];

  const isInText = (name: string): boolean =>
    prompt.program !== undefined ||
    listInputs(pieces).includes(name) ||
    allProviders.some(({ entry }) => entry && 'address' in entry);

  for (const name of jsonVariables.ambiguousNames.filter(isInText)) {
    conversion.reportOmission(
      tests.place,
      `\`${name}\` has texts and other values, which its programs can't tell apart: it has no equivalent`,
    );
  }

  return jsonVariables.names.filter(name => !isInText(name));
}

/** Returns the parts of a prompt that is a text with variables; undefined for any other. */
function findPlainPrompt(
  { text, program }: ConfiguredPrompt,
  { pieces, template }: PromptBody,
): PromptNeeds['plainPrompt'] {
  const [, variable] = /^\{\{ ?(\w+) ?\}\}$/u.exec(text) ?? [];
  if (variable !== undefined) return [{ input: variable }];

  if (program !== undefined || template !== undefined) return undefined;

  const plainPieces = pieces.filter(piece => 'text' in piece || 'input' in piece);
  return plainPieces.length === pieces.length ? plainPieces : undefined;
}

function hasProgramArgument(entry: JsonObject | undefined, argument: string): boolean {
  const program = entry?.['program'];
  return isJsonList(program) && program.includes(argument);
}
