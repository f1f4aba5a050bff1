import { isJsonList, type JsonObject } from '../../../../files/formats/json.ts';
import { listInputs, listTestedInputs } from '../../template-pieces.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { ConfiguredPrompt } from '../prompts/configured-prompt.ts';
import type { PromptBody } from '../prompts/prompt-body.ts';
import { readPromptJson } from '../prompts/prompt-messages.ts';
import type { ConfiguredModels } from '../providers/configured-models.ts';
import type { PromptNeeds } from './cases-for-prompt.ts';
import type { JsonVariables } from './variable-kinds.ts';

/** A prompt, the models that it runs with, and the variables that are not texts. */
interface ConvertedParts {
  readonly prompt: ConfiguredPrompt;
  readonly body: PromptBody;
  readonly models: ConfiguredModels;
  readonly json: JsonVariables;
}

/**
 * Returns the inputs that the prompt, its programs and its addresses read, and reports those whose
 * values they can't distinguish.
 */
export function findPromptNeeds(parts: ConvertedParts, conversion: ConversionContext): PromptNeeds {
  const { prompt, body: promptBody, models } = parts;
  const { body, template } = promptBody;
  const promptInputs = [...new Set([...listInputs(body), ...listTestedInputs(body)])];
  const jsonInputs = findJsonInputs(parts, conversion);
  const inputs = [
    ...new Set([
      ...promptInputs,
      ...(mayUseAnyVariable(parts) ? models.tests.names : []),
      ...conversion.inputsWithDefault.keys(),
      ...conversion.requestBodies.keys(),
    ]),
  ];

  const hasProgram = prompt.program !== undefined;
  const isEachRendered = hasProgram || readPromptJson(prompt, conversion) === undefined;
  const bodyInputs = isEachRendered && template === undefined ? promptInputs : [];

  return {
    prompt,
    template,
    inputs,
    jsonInputs,
    renderedInputs: hasProgram ? inputs : bodyInputs,
    isEachRendered,
    plainPrompt: findPlainPrompt(prompt, promptBody),
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
 * Returns the inputs that programs read as JSON. Reports those that texts and other values could be
 * mistaken in.
 */
function findJsonInputs(
  { prompt, body: { body }, models, json }: ConvertedParts,
  conversion: ConversionContext,
): string[] {
  const { allProviders, tests } = models;
  const readsJson = allProviders.some(({ entry }) =>
    isProgramWith(JSON.stringify(json.names), entry),
  );
  if (!readsJson) return [];

  const isInText = (name: string): boolean =>
    prompt.program !== undefined ||
    listInputs(body).includes(name) ||
    allProviders.some(({ entry }) => entry && 'address' in entry);

  for (const name of json.mixed.filter(isInText)) {
    conversion.reportOmission(
      tests.at,
      `\`${name}\` has texts and other values, which its programs can't tell apart: it has no equivalent`,
    );
  }

  return json.names.filter(name => !isInText(name));
}

/** Returns the parts of a prompt that is a text with variables; undefined for any other. */
function findPlainPrompt(
  { text, program }: ConfiguredPrompt,
  { body, template }: PromptBody,
): PromptNeeds['plainPrompt'] {
  const [, variable] = /^\{\{ ?(\w+) ?\}\}$/u.exec(text) ?? [];
  if (variable !== undefined) return [{ input: variable }];

  if (program !== undefined || template !== undefined) return undefined;

  const plainPieces = body.filter(piece => 'text' in piece || 'input' in piece);
  return plainPieces.length === body.length ? plainPieces : undefined;
}

function isProgramWith(word: string, entry: JsonObject | undefined): boolean {
  const program = entry?.['program'];
  return isJsonList(program) && program.includes(word);
}
