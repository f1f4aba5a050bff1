import {
  findOwnValue,
  isJsonList,
  type JsonValue,
  parseJson,
} from '../../../../files/formats/json.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { fillVariables, mentionsEnvironment } from '../nunjucks/fill-variables.ts';
import { splitNunjucks } from '../nunjucks/split-nunjucks.ts';
import type { Combination } from '../tests/variable-combinations.ts';
import { type Assertion, CODE_TYPE } from './assertion.ts';

/** The variables of a case. */
export type CaseVariables = Pick<Combination, 'texts' | 'values'>;

/**
 * The value of an assertion, or the reason that promptfoo can't render it; unknown until Nunjucks
 * has run.
 */
type RenderedValue =
  | { readonly value: JsonValue | undefined }
  | { readonly fault: string }
  | { readonly isUnknown: true };

/** A text can't be rendered, or not before Nunjucks has run. */
class UnrenderedValueError extends Error {
  constructor(readonly result: Exclude<RenderedValue, { readonly value: unknown }>) {
    super();
  }
}

/**
 * Returns the value of an assertion, with its variables as promptfoo fills them in: in texts and in
 * the texts of a list.
 */
export function renderAssertionValue(
  { place, type, value }: Assertion,
  vars: CaseVariables,
  conversion: ConversionContext,
): RenderedValue {
  const renderText = (template: string): string => {
    if (template.startsWith('file://')) return conversion.files.read(template, place).text.trim();
    return renderForCase({ place, template, type }, vars, conversion);
  };
  try {
    if (isJsonList(value)) {
      return { value: value.map(item => (typeof item === 'string' ? renderText(item) : item)) };
    }

    if (typeof value !== 'string') return { value };
    if (!value.startsWith('file://')) return { value: renderText(value) };
    if (CODE_TYPE.test(type)) return { value };

    const isYaml = /\.(?:json|ya?ml)$/iu.test(value);
    return { value: isYaml ? conversion.files.readYaml(value, place).toJson() : renderText(value) };
  } catch (error) {
    if (error instanceof UnrenderedValueError) return error.result;
    throw error;
  }
}

/** @throws {UnrenderedValueError} if Nunjucks has not rendered it yet, or can't */
function renderForCase(
  { place, type, template }: Pick<Assertion, 'place' | 'type'> & { readonly template: string },
  { texts, values }: CaseVariables,
  conversion: ConversionContext,
): string {
  if (splitNunjucks(template).isPlain) return fillVariables(template, texts);

  if (!conversion.isForTest) {
    conversion.reportOmission(place, 'Nunjucks other than `{{name}}` is left unchanged');
    return fillVariables(template, texts);
  }

  if (mentionsEnvironment(template)) {
    conversion.reportOmission(
      place,
      `the assertion \`${type}\` has \`{{env.…}}\` in its value, which has no equivalent`,
    );
    return '';
  }

  const renderedTemplate = { template, vars: values, isAssertionValue: true };
  const output = conversion.requestOutput({
    name: JSON.stringify(renderedTemplate),
    ...renderedTemplate,
    line: conversion.findConfigurationLine(place) ?? 1,
  });
  if (output === undefined) throw new UnrenderedValueError({ isUnknown: true });

  const [text, fault] = ['text', 'fault'].map(key => findOwnValue(parseJson(output) ?? null, key));
  if (typeof fault !== 'string') return typeof text === 'string' ? text : '';
  throw new UnrenderedValueError({
    fault: `Nunjucks can't render the value of the assertion \`${type}\`: ${fault}`,
  });
}
