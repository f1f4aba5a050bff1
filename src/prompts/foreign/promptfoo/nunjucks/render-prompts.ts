// Runs with Nunjucks inside the engine for untrusted JavaScript, which has nothing but the language
// itself.
import nunjucks from 'nunjucks';
import {
  isJsonList,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../../files/formats/json.ts';
import type { RenderedTemplate } from '../../converted-prompt.ts';
import { hasUnclosedTag, mentionsUnknownVariable, resolveVariables } from './resolve-variables.ts';

/** Variables by name, as Nunjucks gets them. */
type NunjucksVariables = JsonObject;

/**
 * A prompt with the variables within its variables filled in, or the reason that it can't be
 * rendered.
 */
export type RenderedInSandbox =
  | { readonly text: string; readonly vars: NunjucksVariables }
  | { readonly fault: string };

/**
 * Renders templates as promptfoo does. If a prompt is JSON, each of its strings is rendered; any
 * other prompt gets variables that are rendered first.
 */
export function renderPrompts(templates: readonly RenderedTemplate[]): RenderedInSandbox[] {
  const environment = new nunjucks.Environment(null, { autoescape: false });
  environment.addFilter('load', (text: string): unknown => JSON.parse(text));
  const render: Render = (template, vars) => environment.renderString(template, vars);

  return templates.map(({ template, vars, isAssertionValue = false }) => {
    try {
      // promptfoo has rendered the variables of an assertion already.
      if (isAssertionValue) return { text: render(template, vars), vars };
      return renderPromptTemplate(template, resolveVariables(dropFinalLineBreaks(vars)), render);
    } catch (error) {
      return { fault: String(error) };
    }
  });
}

/** Renders a template by Nunjucks. */
type Render = (template: string, vars: NunjucksVariables) => string;

function renderPromptTemplate(
  template: string,
  vars: NunjucksVariables,
  render: Render,
): RenderedInSandbox {
  const json = parseJson(template);
  if (json !== undefined) {
    try {
      const renderedJson = renderStrings(json, text => render(text, vars));
      return { text: JSON.stringify(renderedJson, null, 2), vars };
    } catch {
      // promptfoo renders it as text then.
    }
  }

  const renderedVars = mapVariables(vars, value =>
    typeof value === 'string' && !mentionsUnknownVariable(value, vars)
      ? render(keepIfUnclosed(value), vars)
      : value,
  );
  return { text: render(keepIfUnclosed(template), renderedVars), vars };
}

/** Returns a value with each of its strings rendered. */
function renderStrings(value: JsonValue, renderText: (text: string) => string): JsonValue {
  if (typeof value === 'string') return renderText(value);
  if (isJsonList(value)) return value.map(item => renderStrings(item, renderText));
  if (typeof value !== 'object' || value === null) return value;
  return mapVariables(value, item => renderStrings(item, renderText));
}

/** Returns a template that Nunjucks renders as it stands if a tag in it is not closed. */
function keepIfUnclosed(template: string): string {
  return hasUnclosedTag(template) ? `{% raw %}${template}{% endraw %}` : template;
}

function dropFinalLineBreaks(vars: NunjucksVariables): NunjucksVariables {
  return mapVariables(vars, value =>
    typeof value === 'string' ? value.replace(/\n$/u, '') : value,
  );
}

function mapVariables(
  values: NunjucksVariables,
  convert: (value: JsonValue) => JsonValue,
): NunjucksVariables {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, convert(value)]));
}
