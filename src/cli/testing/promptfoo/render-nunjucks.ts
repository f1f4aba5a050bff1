import {
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
} from '../../../files/formats/json.ts';
import { readBuiltText } from '../../../files/installed/installed-file.ts';
import type { RenderedTemplate } from '../../../prompts/foreign/converted-prompt.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import type { Context } from '../../context.ts';

/** A prompt that Nunjucks rendered, or the reason that it could not. */
export interface NunjucksPrompt {
  readonly text: string;
  /** The variables, with those in them filled in. */
  readonly vars: JsonObject;
  /** The reason that Nunjucks can't render it. */
  readonly fault?: string | undefined;
}

/** The number of templates that are rendered within one time limit. */
const MAX_TEMPLATES_AT_ONCE = 20;

/**
 * Renders templates as promptfoo does. It runs where untrusted JavaScript runs, because a
 * template of Nunjucks can call any function.
 *
 * @throws {Error} if the engine can't run it
 * @throws {LimitExceededError} if it takes too much time or memory
 */
export async function renderNunjucks(
  ctx: Context,
  templates: readonly RenderedTemplate[],
): Promise<NunjucksPrompt[]> {
  const checks = await ctx.checks();
  const code = readBuiltText('assets/render-prompts.js');
  const renderedPrompts: NunjucksPrompt[] = [];
  for (let start = 0; start < templates.length; start += MAX_TEMPLATES_AT_ONCE) {
    // Without the names of templates, which may contain templates again.
    const output = templates
      .slice(start, start + MAX_TEMPLATES_AT_ONCE)
      .map(({ template, vars, isAssertionValue = false }) => ({
        template,
        vars,
        isAssertionValue,
      }));

    const context = { vars: {}, prompt: null, test: null };
    const result = await checks.perform(
      'renderTemplates',
      { code, isFile: true, exportName: 'renderPrompts' },
      { output, context },
    );
    if ('fault' in result) throw new Error(result.fault);

    const texts = result.value ?? null;
    renderedPrompts.push(...(isJsonList(texts) ? texts.map(readNunjucksPrompt) : []));
  }

  return renderedPrompts;
}

function readNunjucksPrompt(value: JsonValue): NunjucksPrompt {
  const text = findOwnValue(value, 'text');
  const vars = findOwnValue(value, 'vars');
  const fault = findOwnValue(value, 'fault');

  return {
    text: typeof text === 'string' ? text : '',
    vars: isJsonObject(vars) ? vars : {},
    ...(typeof fault === 'string' && { fault: formatNunjucksFault(fault) }),
  };
}

/** Returns the message of Nunjucks without the name of a file, which a template does not have. */
function formatNunjucksFault(fault: string): string {
  return fault.replace(/^Template render error: \(unknown path\)\s*/u, '').replaceAll(/\s+/gu, ' ');
}
