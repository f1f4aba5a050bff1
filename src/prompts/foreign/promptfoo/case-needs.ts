import { isJsonList, type JsonObject } from '../../../files/formats/json.ts';
import { inputsIn, testedInputs } from '../template-pieces.ts';
import type { ConfiguredModels } from './configured-models.ts';
import type { Conversion } from './conversion.ts';
import type { PromptBody } from './prompt-body.ts';
import { readPromptJson } from './prompt-messages.ts';
import type { PromptText } from './prompt-text.ts';
import type { CaseNeeds } from './tests/test-cases.ts';
import type { JsonVariables } from './tests/tests.ts';

/**
 * Returns the inputs that the prompt, its programs and its addresses read, and reports those whose values they can't
 * distinguish.
 */
export function caseNeeds(
  {
    prompt,
    body: { body, template },
    models: { known, tests, asked },
    json,
  }: {
    readonly prompt: PromptText;
    readonly body: PromptBody;
    readonly models: ConfiguredModels;
    readonly json: JsonVariables;
  },
  conversion: Conversion,
): CaseNeeds {
  // Programs and addresses may use any variable.
  const isMade = prompt.program !== undefined || template !== undefined;
  const isAnyUsed = known.some(({ entry }) => entry) || isMade;
  const isInText = (name: string): boolean =>
    prompt.program !== undefined ||
    inputsIn(body).includes(name) ||
    known.some(({ entry }) => entry && 'address' in entry);
  const readsJson = known.some(({ entry }) => isProgramWith(JSON.stringify(json.names), entry));
  for (const name of readsJson ? json.mixed.filter(isInText) : []) {
    conversion.note(
      tests.at,
      `\`${name}\` has texts and other values, which its programs can't tell apart: it has no equivalent`,
    );
  }
  const tested = testedInputs(body);
  const inPrompt = [...new Set([...inputsIn(body), ...tested])];
  const inputs = [
    ...new Set([
      ...inPrompt,
      ...(isAnyUsed ? tests.names : []),
      ...conversion.fallbacks.keys(),
      ...conversion.bodies.keys(),
    ]),
  ];
  const isEachRendered = prompt.program !== undefined || readPromptJson(prompt, conversion) === undefined;
  const renderedInputs = isEachRendered && template === undefined ? inPrompt : [];
  return {
    prompt,
    template,
    inputs,
    jsonInputs: readsJson ? json.names.filter(name => !isInText(name)) : [],
    renderedInputs: prompt.program ? inputs : renderedInputs,
    isEachRendered,
    plainPrompt: plainPrompt(prompt, { body, template }),
    hasCode: asked.some(({ transform }) => transform !== undefined),
  };
}

/** Returns the parts of a prompt that is a text with variables; undefined for any other. */
function plainPrompt(
  { text, program }: PromptText,
  { body, template }: Pick<PromptBody, 'body' | 'template'>,
): CaseNeeds['plainPrompt'] {
  const [, variable] = /^\{\{ ?(\w+) ?\}\}$/u.exec(text) ?? [];
  if (variable !== undefined) return [{ input: variable }];
  const isMade = program !== undefined || template !== undefined;
  const parts = body.flatMap(piece => ('text' in piece || 'input' in piece ? [piece] : []));
  return isMade || parts.length < body.length ? undefined : parts;
}

function isProgramWith(word: string, entry: JsonObject | undefined): boolean {
  const program = entry?.['program'];
  return isJsonList(program) && program.includes(word);
}
