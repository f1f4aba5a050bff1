import { type JsonObject, type JsonValue, ownValue, parseJson } from '../../../../files/formats/json.ts';
import type { BodyTemplate, Conversion } from '../conversion.ts';

/** Returns the text of a request's body that Nunjucks makes for a case, as promptfoo sends it; empty with a note if it can't. */
export function bodyText(
  body: BodyTemplate,
  vars: Readonly<Record<string, JsonValue>>,
  { prompt }: { readonly prompt: string | undefined },
  conversion: Conversion,
): string {
  if (prompt === undefined && /\bprompt\b/u.test(body.template)) {
    return noteBody(body, 'it writes a prompt that is more than a text with variables', conversion);
  }
  const variables = prompt === undefined ? vars : { ...vars, prompt };
  const text = rendered(body, variables, conversion);
  const isMeantAsJson = /^\s*[[{]/u.test(text);
  const escaped =
    isMeantAsJson && parseJson(text) === undefined ? rendered(body, inJson(variables), conversion) : text;
  const json = parseJson(escaped);
  return json === undefined ? text : JSON.stringify(json);
}

/** Returns the body that Nunjucks renders; empty until it is rendered. */
function rendered({ at, template }: BodyTemplate, vars: JsonObject, conversion: Conversion): string {
  const name = JSON.stringify({ template, vars });
  const printed = conversion.printedBy({ name, template, vars, line: conversion.ownLine(at) ?? 1 });
  const result = parseJson(printed ?? '') ?? null;
  const [text, fault] = ['text', 'fault'].map(key => ownValue(result, key));
  if (typeof fault === 'string') return noteBody({ at }, `Nunjucks can't render it: ${fault}`, conversion);
  return typeof text === 'string' ? text : '';
}

/** Returns variables with their texts escaped as within a text of JSON. */
function inJson(vars: JsonObject): JsonObject {
  const entries = Object.entries(vars).map(([key, value]) => [
    key,
    typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : value,
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

function noteBody({ at }: Pick<BodyTemplate, 'at'>, what: string, conversion: Conversion): string {
  conversion.note(at, `the \`body\` has no equivalent: ${what}`);
  return '';
}
