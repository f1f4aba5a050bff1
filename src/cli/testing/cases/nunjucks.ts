import { installedText } from '../../../files/installed-file.ts';
import { isJsonList, type JsonObject, type JsonValue, ownValue } from '../../../files/json.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { Context } from '../../context.ts';

/** A prompt that Nunjucks has rendered. */
export interface RenderedPrompt {
  readonly text: string;
  /** The variables, with those in them filled in. */
  readonly vars: JsonObject;
  /** The reason that Nunjucks can't render it. */
  readonly fault?: string;
}

/**
 * Renders a template with each of several sets of variables, as promptfoo does. It runs where JavaScript of strangers runs,
 * because a template of Nunjucks can call any function.
 *
 * @throws {Error} if the engine can't run it
 * @throws {PastBound} if it takes too much time or memory
 */
export async function renderNunjucks(
  ctx: Context,
  template: string,
  all: readonly Readonly<Record<string, JsonValue>>[],
): Promise<RenderedPrompt[]> {
  const checks = await ctx.checks();
  const code = `${installedText('dist/assets/nunjucks.min.js', 'node_modules/nunjucks/browser/nunjucks.min.js')}${RENDER}`;
  const rendered: RenderedPrompt[] = [];
  for (let start = 0; start < all.length; start += AT_ONCE) {
    const output = { template, all: all.slice(start, start + AT_ONCE) };
    const context = { vars: {}, prompt: null, test: null };
    const result = await checks.perform('rendering', { code, isFile: true }, { output, context });
    if ('fault' in result) throw new Error(result.fault);
    const texts = result.value ?? null;
    rendered.push(...(isJsonList(texts) ? texts.map(renderedPrompt) : []));
  }
  return rendered;
}

function renderedPrompt(value: JsonValue): RenderedPrompt {
  const [text, vars, fault] = ['text', 'vars', 'fault'].map(key => ownValue(value, key));
  return {
    text: typeof text === 'string' ? text : '',
    vars: isJsonObject(vars) ? vars : {},
    ...(typeof fault === 'string' && { fault: faultText(fault) }),
  };
}

/** Returns the message of Nunjucks without the name of a file, which a template does not have. */
function faultText(fault: string): string {
  return fault.replace(/^Template render error: \(unknown path\)\s*/u, '').replaceAll(/\s+/gu, ' ');
}

/** The number of prompts that are rendered within one bound of time. */
const AT_ONCE = 20;

/** Renders as promptfoo does: a prompt in JSON text by text, another one after its variables. */
const RENDER = `
;const nunjucks = module.exports;
module.exports = ({ template, all }) => {
  const env = new nunjucks.Environment(null, { autoescape: false });
  env.addFilter('load', text => JSON.parse(text));
  const UNCLOSED = /({%[^%]*$|{{[^}]*$|{#[^#]*$)/m;
  const isRaw = text => /{%\\s*raw\\s*%}/.test(text) && /{%\\s*endraw\\s*%}/.test(text);
  const render = (text, vars) => {
    const isText = UNCLOSED.test(text) && !isRaw(text);
    return env.renderString(isText ? '{% raw %}' + text + '{% endraw %}' : text, vars);
  };
  const inJson = (part, vars) => {
    if (typeof part === 'string') return env.renderString(part, vars);
    if (Array.isArray(part)) return part.map(one => inJson(one, vars));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, inJson(one, vars)]));
  };
  const TAGS = /\\{\\{\\s*([^{}\\s|]+)\\s*(?:\\|[^}]+)?\\}\\}|\\{%\\s*(?:if|for)\\s+([^{}\\s]+)\\s*.*?%\\}/g;
  const LOOPS = /\\{%\\s*for\\s+(\\w+)\\s+in\\s+(\\w+)\\s*%\\}/g;
  const namesUnknown = (written, vars) => {
    const text = written.replace(/\\{#[^]*?#\\}/g, '');
    const names = new Set([...text.matchAll(TAGS)].map(([, name, other]) => name ?? other));
    for (const [, one, all] of text.matchAll(LOOPS)) {
      names.delete(one);
      names.add(all);
    }
    return [...names].some(name => {
      const [root] = /^[A-Za-z_]\\w*/.exec(name) ?? [];
      return root !== undefined && root !== 'env' && vars[root] === undefined;
    });
  };
  const isText = value => typeof value === 'string';
  const resolve = vars => {
    let isDone = false;
    for (let round = 0; round < 5 && !isDone; round += 1) {
      isDone = true;
      for (const key of Object.keys(vars)) {
        const [placeholder, name] = (isText(vars[key]) && /\\{\\{\\s*(\\w+)\\s*\\}\\}/.exec(vars[key])) || [];
        if (placeholder === undefined || vars[name] === undefined) continue;
        vars[key] = vars[key].replace(placeholder, vars[name]);
        isDone = false;
      }
    }
  };
  const rendered = given => {
    const vars = { ...given };
    for (const key of Object.keys(vars)) if (isText(vars[key])) vars[key] = vars[key].replace(/\\n$/, '');
    resolve(vars);
    let json;
    try {
      json = JSON.parse(template);
      return { text: JSON.stringify(inJson(json, vars), null, 2), vars };
    } catch {
      const each = ([key, value]) => [key, isText(value) && !namesUnknown(value, vars) ? render(value, vars) : value];
      return { text: render(template, Object.fromEntries(Object.entries(vars).map(each))), vars };
    }
  };
  return all.map(given => {
    try {
      return rendered(given);
    } catch (error) {
      return { fault: String(error) };
    }
  });
};`;
