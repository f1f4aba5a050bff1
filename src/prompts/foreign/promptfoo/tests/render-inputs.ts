import type { ConversionContext } from '../conversion-context.ts';
import { hasUnreadableTag, renderVariable } from '../nunjucks/fill-variables.ts';
import type { PromptNeeds } from './prompt-needs.ts';
import { renderRequestBody } from './render-request-body.ts';
import type { Combination } from './variable-combinations.ts';

/** The inputs of a case. */
interface RenderedInputs {
  readonly inputs: Readonly<Record<string, string>>;
  /** True if promptfoo would render one of them in another way. */
  readonly isLeftOut: boolean;
}

/** Renders the inputs of a case. Reports those that promptfoo would render in another way. */
export function renderInputs(
  combination: Combination,
  needs: PromptNeeds,
  conversion: ConversionContext,
): RenderedInputs {
  const omissionsBefore = conversion.omissionCount;
  const inputs = Object.fromEntries(
    needs.inputs.map(input => [input, renderInput(input, combination, needs, conversion)]),
  );

  if (needs.rendersEachVariable && conversion.isForTest) {
    reportUnreadableVariables(combination, needs, conversion);
  }

  return { inputs, isLeftOut: conversion.omissionCount > omissionsBefore };
}

/**
 * Returns the text of an input: the body of a request, a variable, or the default of a variable. It
 * is empty if the test has no such variable.
 */
function renderInput(
  input: string,
  combination: Combination,
  needs: PromptNeeds,
  conversion: ConversionContext,
): string {
  const { texts, values } = combination;
  const renderVariableInput = (name: string): string =>
    renderInput(name, combination, needs, conversion);

  const body = conversion.requestBodies.get(input);
  if (body) {
    const promptTexts = needs.plainPrompt?.map(piece =>
      'text' in piece ? piece.text : renderVariableInput(piece.input),
    );
    return renderRequestBody(body, values, { prompt: promptTexts?.join('') }, conversion);
  }

  const fallback = conversion.inputsWithDefault.get(input);
  if (fallback) {
    return Object.hasOwn(texts, fallback.variable)
      ? renderVariableInput(fallback.variable)
      : fallback.text;
  }

  return Object.hasOwn(texts, input)
    ? renderVariableText(input, combination, needs, conversion)
    : '';
}

/** Returns the text of a variable with its Nunjucks rendered, or its value as JSON. */
function renderVariableText(
  name: string,
  { chosenValues, texts, values }: Combination,
  { renderedInputs, jsonInputs }: PromptNeeds,
  conversion: ConversionContext,
): string {
  const text = texts[name] ?? '';
  const place = renderedInputs.includes(name) ? chosenValues[name]?.place : undefined;
  const renderedText = place && renderVariable(text, texts);
  if (renderedText !== undefined) return renderedText;

  if (place) {
    conversion.reportOmission(
      place,
      `the variable \`${name}\` has Nunjucks beyond \`{{name}}\`, which has no equivalent`,
    );
  }

  const value = values[name];
  const isStructured = typeof value === 'object' && value !== null;
  return isStructured || jsonInputs.includes(name) ? JSON.stringify(value) : text;
}

/** Reports variables that promptfoo fails to render, although the prompt doesn't use them. */
function reportUnreadableVariables(
  { chosenValues, texts }: Combination,
  { renderedInputs }: PromptNeeds,
  conversion: ConversionContext,
): void {
  for (const [key, { place }] of Object.entries(chosenValues)) {
    if (renderedInputs.includes(key) || !place || !hasUnreadableTag(texts[key] ?? '', texts)) {
      continue;
    }
    conversion.reportOmission(
      place,
      `the variable \`${key}\` has Nunjucks that promptfoo can't read`,
    );
  }
}
