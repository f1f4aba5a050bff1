import { stringify } from 'yaml';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, ownValue } from '../files/json.ts';
import { FileFault, parseYaml } from '../files/yaml-file.ts';
import { InvalidPromptFile } from './definition.ts';

/** A prompt file made from one of GitHub Models, and what of it has no place there. */
export interface ConvertedPrompt {
  readonly prompt: string;
  /** The names of what was left out, such as `evaluators`. */
  readonly leftOut: readonly string[];
}

const ROLES: Readonly<Record<string, string>> = { system: 'system', user: 'user', assistant: 'model' };
/** Their names of parameters, where ours differ. */
const PARAMETERS: Readonly<Record<string, string>> = {
  maxTokens: 'maxOutputTokens',
  maxCompletionTokens: 'maxOutputTokens',
};
const TAKEN = ['name', 'description', 'model', 'modelParameters', 'messages', 'responseFormat', 'jsonSchema'];

/** The only tag of that format: a name in two braces. Anything else in braces is text. */
const VARIABLE = /(?<!\{)\{\{[ \t]*([A-Za-z_][\w-]*)[ \t]*\}\}(?!\})/u;

/**
 * Writes the `.prompt.yml` of GitHub Models as a prompt file: messages become roles, variables inputs, parameters config.
 *
 * @throws {InvalidPromptFile} naming `file` where it is not such a file
 */
export function convertGithubPrompt(source: string, file: string): ConvertedPrompt {
  const fault = (what: string, line = 1): InvalidPromptFile => new InvalidPromptFile(file, line, what);
  const whole = readWhole(source, fault);
  const messages = ownValue(whole, 'messages');
  if (!isJsonList(messages) || messages.length === 0) throw fault('`messages` must be a list with a message');
  const parts = messages.map(message => readMessage(message, fault));
  const body = parts.map(({ role, content }) => `{{role "${role}"}}${templateOf(content)}`).join('');
  const names = [...new Set(parts.flatMap(({ content }) => variablesIn(content)))];
  const head = stringify(frontMatter(whole, names, fault), { lineWidth: 0 });
  const leftOut = Object.keys(whole).filter(key => !TAKEN.includes(key));
  return { prompt: `---\n${head}---\n${body}\n`, leftOut };
}

type Fault = (what: string, line?: number) => InvalidPromptFile;

function readWhole(source: string, fault: Fault): JsonObject {
  try {
    const { root, read } = parseYaml(source);
    const whole = read.json(root);
    if (isJsonObject(whole)) return whole;
  } catch (error) {
    if (error instanceof FileFault) throw fault(error.what, error.line);
    throw error;
  }
  throw fault('this is not a prompt of GitHub Models: it must be a map with `messages`');
}

function readMessage(message: JsonValue, fault: Fault): { role: string; content: string } {
  const fields = isJsonObject(message) ? message : {};
  const role = ownValue(fields, 'role');
  const content = ownValue(fields, 'content');
  if (typeof role !== 'string' || !Object.hasOwn(ROLES, role)) {
    throw fault('the `role` of a message must be system, user or assistant');
  }
  if (typeof content !== 'string') throw fault('the `content` of a message must be a text');
  return { role: ROLES[role] ?? role, content };
}

function variablesIn(content: string): string[] {
  return [...content.matchAll(new RegExp(VARIABLE, 'gu'))].map(([, name = '']) => name);
}

/** The same text as a template: `this.` keeps a variable from being taken for a helper of its name. */
function templateOf(content: string): string {
  const pieces = content.split(VARIABLE);
  return pieces
    .map((piece, at) => (at % 2 === 1 ? `{{this.${piece}}}` : literal(piece, at < pieces.length - 1)))
    .join('');
}

/** Text that the template gives back unchanged. A backslash escapes a tag, and two are one before a tag that is none. */
function literal(text: string, tagFollows: boolean): string {
  const escaped = text.replaceAll(/\\?\{\{/gu, tag => (tag.startsWith('\\') ? '\\\\{{!}}\\{{' : '\\{{'));
  return tagFollows && escaped.endsWith('\\') ? `${escaped}\\` : escaped;
}

function frontMatter(whole: JsonObject, names: readonly string[], fault: Fault): JsonObject {
  const texts = { title: 'name', description: 'description', model: 'model' };
  const settings = Object.entries(texts).flatMap(([ours, theirs]) => {
    const value = ownValue(whole, theirs);
    return typeof value === 'string' ? [[ours, value]] : [];
  });
  const parameters = ownValue(whole, 'modelParameters');
  const config = Object.entries(isJsonObject(parameters) ? parameters : {}).map(([name, value]) => [
    Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : name,
    value,
  ]);
  const schema = Object.fromEntries(names.map(name => [name, 'string']));
  return {
    ...(Object.fromEntries(settings) as JsonObject),
    ...(config.length > 0 && { config: Object.fromEntries(config) as JsonObject }),
    ...(names.length > 0 && { input: { schema } }),
    ...outputOf(whole, fault),
  };
}

/** `jsonSchema` is the text of `{name, strict, schema}`, or that map itself. */
function outputOf(whole: JsonObject, fault: Fault): JsonObject {
  const format = ownValue(whole, 'responseFormat');
  if (format !== 'json_schema') return format === 'json_object' ? { output: { format: 'json' } } : {};
  const written = ownValue(whole, 'jsonSchema');
  const parsed = typeof written === 'string' ? parseJson(written, fault) : written;
  if (!isJsonObject(parsed)) throw fault('`jsonSchema` must be a JSON Schema');
  const schema = ownValue(parsed, 'schema') ?? parsed;
  return { output: { format: 'json', schema } };
}

function parseJson(text: string, fault: Fault): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw fault('`jsonSchema` is not JSON');
  }
}
