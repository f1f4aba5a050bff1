import {
  findOwnValue,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../../files/formats/json.ts';
import type { BodyTemplate, ConversionContext } from '../conversion-context.ts';

/**
 * Returns the body of a request that Nunjucks makes for a case, as promptfoo sends it. Reports a
 * body that it can't make, and returns an empty one.
 */
export function renderRequestBody(
  body: BodyTemplate,
  vars: Readonly<Record<string, JsonValue>>,
  { prompt }: { readonly prompt: string | undefined },
  conversion: ConversionContext,
): string {
  if (prompt === undefined && /\bprompt\b/u.test(body.template)) {
    return omitBody(body, 'it writes a prompt that is more than a text with variables', conversion);
  }

  const variables = prompt === undefined ? vars : { ...vars, prompt };
  const text = renderBodyTemplate(body, variables, conversion);
  const isMeantAsJson = /^\s*[[{]/u.test(text);
  const escapedText =
    isMeantAsJson && parseJson(text) === undefined
      ? renderBodyTemplate(body, withEscapedTexts(variables), conversion)
      : text;
  const json = parseJson(escapedText);

  return json === undefined ? text : JSON.stringify(json);
}

/** Returns the body that Nunjucks renders; empty until it is rendered. */
function renderBodyTemplate(
  { place, template }: BodyTemplate,
  vars: JsonObject,
  conversion: ConversionContext,
): string {
  const name = JSON.stringify({ template, vars });
  const output = conversion.requestOutput({
    name,
    template,
    vars,
    line: conversion.findConfigurationLine(place) ?? 1,
  });
  const result = parseJson(output ?? '') ?? null;
  const [text, fault] = ['text', 'fault'].map(key => findOwnValue(result, key));
  if (typeof fault === 'string') {
    return omitBody({ place }, `Nunjucks can't render it: ${fault}`, conversion);
  }

  return typeof text === 'string' ? text : '';
}

/** Returns variables with their texts escaped as within a text of JSON. */
function withEscapedTexts(vars: JsonObject): JsonObject {
  const entries = Object.entries(vars).map(([key, value]) => [
    key,
    typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : value,
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

/** Reports a body without an equivalent, and returns an empty one. */
function omitBody(
  { place }: Pick<BodyTemplate, 'place'>,
  reason: string,
  conversion: ConversionContext,
): string {
  conversion.reportOmission(place, `the \`body\` has no equivalent: ${reason}`);
  return '';
}
