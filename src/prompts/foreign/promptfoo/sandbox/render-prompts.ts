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
import { isUnclosed, mentionsUnknown, resolveVariables } from '../nunjucks/resolve-variables.ts';

type NunjucksVariables = JsonObject;

/**
 * A prompt with the variables within its variables filled in, or the reason that it can't be
 * rendered.
 */
export type RenderedInSandbox =
  | { readonly text: string; readonly vars: NunjucksVariables }
  | { readonly fault: string };

/**
 * Renders templates as promptfoo does: of a JSON prompt each string, of any other first its
 * variables.
 */
export function renderPrompts(templates: readonly RenderedTemplate[]): RenderedInSandbox[] {
  const environment = new nunjucks.Environment(null, { autoescape: false });
  environment.addFilter('load', (text: string): unknown => JSON.parse(text));
  return templates.map(({ template, vars, isPlain = false }) => {
    try {
      if (isPlain) return { text: environment.renderString(template, vars), vars };
      return renderPromptTemplate(
        environment,
        template,
        resolveVariables(dropFinalLineBreaks(vars)),
      );
    } catch (error) {
      return { fault: String(error) };
    }
  });
}

function renderPromptTemplate(
  environment: nunjucks.Environment,
  template: string,
  vars: NunjucksVariables,
): RenderedInSandbox {
  const json = parseJson(template);
  if (json !== undefined) {
    try {
      return { text: JSON.stringify(renderStrings(environment, json, vars), null, 2), vars };
    } catch {
      // promptfoo renders it as text then.
    }
  }
  return {
    text: renderUnlessUnclosed(environment, template, renderVariables(environment, vars)),
    vars,
  };
}

function renderStrings(
  environment: nunjucks.Environment,
  value: JsonValue,
  vars: NunjucksVariables,
): JsonValue {
  if (typeof value === 'string') return environment.renderString(value, vars);
  if (isJsonList(value)) return value.map(item => renderStrings(environment, item, vars));
  if (typeof value !== 'object' || value === null) return value;
  return mapVariables(value, item => renderStrings(environment, item, vars));
}

function renderVariables(
  environment: nunjucks.Environment,
  vars: NunjucksVariables,
): NunjucksVariables {
  return mapVariables(vars, value =>
    typeof value === 'string' && !mentionsUnknown(value, vars)
      ? renderUnlessUnclosed(environment, value, vars)
      : value,
  );
}

function renderUnlessUnclosed(
  environment: nunjucks.Environment,
  text: string,
  vars: NunjucksVariables,
): string {
  return environment.renderString(isUnclosed(text) ? `{% raw %}${text}{% endraw %}` : text, vars);
}

function dropFinalLineBreaks(vars: NunjucksVariables): NunjucksVariables {
  return mapVariables(vars, value =>
    typeof value === 'string' ? value.replace(/\n$/u, '') : value,
  );
}

function mapVariables(
  values: NunjucksVariables,
  make: (value: JsonValue) => JsonValue,
): NunjucksVariables {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, make(value)]));
}
