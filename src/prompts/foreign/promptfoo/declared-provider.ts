import { createRequire } from 'node:module';
import path from 'node:path';
import type { JsonObject, JsonValue } from '../../../files/json.ts';
import { isJsonList, parseJson } from '../../../files/json.ts';
import { loadsTypes } from '../../../files/programs/node-loader.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { isLoopbackHost } from '../../../wire/addresses.ts';
import { PYTHON } from '../python.ts';
import { CLAUDE_AGENT, claudeAgentCall } from './claude-agent.ts';
import { type Conversion, valuesByKey } from './conversion.ts';
import { NODE_CLAUDE_AGENT, NODE_EXEC, nodeProvider, PYTHON_PROVIDER } from './programs.ts';
import { splitNunjucks } from './template.ts';

/** A program or an address, as an entry of a models file. */
export interface DeclaredProvider {
  readonly model: string;
  readonly entry: JsonObject;
  /** Code that transforms its answers before the checks. */
  readonly transform?: string | undefined;
  /** True if its answers are its whole results, as JSON. */
  readonly givesResults?: boolean;
}

interface WrittenProvider {
  readonly id: string;
  readonly label?: string | undefined;
  readonly config?: YamlValue | undefined;
  /** True if it judges answers, of which only the text counts. */
  readonly isJudge?: boolean | undefined;
  readonly at: YamlValue;
}

type EntryFields = Pick<DeclaredProvider, 'transform' | 'givesResults'> & { readonly fields: JsonObject };

/** Matches a file that exports a provider, with the name of a Python function. */
const PROVIDER_FILE = /^(?:file:\/\/)(?<file>.*\.(?:[cm]?[jt]s|py))(?::(?<name>[\w.]+))?$/u;
/** Matches a path of JavaScript or TypeScript without `file://`. */
const SCRIPT = /^(?<file>[^:]+\.[cm]?[jt]s)$/u;
const PYTHON_ID = /^python:(?:file:\/\/)?(?<file>.*?\.py)(?::(?<name>[\w.]+))?$/u;

/**
 * Returns the entry for a provider that is a program or an address; undefined for any other, and with a note for one that
 * can't be expressed.
 */
export function declareProvider(
  provider: WrittenProvider,
  conversion: Conversion,
): DeclaredProvider | undefined {
  const { id } = provider;
  const textModel = /^(?:huggingface|hf):text-generation:(?<model>[\w./-]+)$/u.exec(id)?.groups?.['model'];
  if (textModel !== undefined) return textGeneration(provider, textModel, conversion);
  const declared = readerOf(id)?.(provider, conversion);
  if (!declared) return undefined;
  const fields = { modality: 'text', ...declared.fields };
  const model = uniqueName(provider, ADDRESS.test(id) ? 'address' : 'program', fields, conversion);
  const entry = { model, ...fields };
  const { transform, givesResults = false } = declared;
  return { model, entry, transform, givesResults };
}

const ADDRESS = /^https?(?:$|:\/\/)/u;

/** Returns the function that reads a program or an address; undefined for any other provider. */
function readerOf(id: string): typeof execFields | undefined {
  if (ADDRESS.test(id)) return addressFields;
  const { groups } = PYTHON_ID.exec(id) ?? PROVIDER_FILE.exec(id) ?? SCRIPT.exec(id) ?? {};
  if (groups) {
    const named = { file: groups['file'] ?? '', name: groups['name'] ?? '' };
    return (provider, conversion) => fileFields(provider, named, conversion);
  }
  if (CLAUDE_AGENT.test(id)) return agentFields;
  return id.startsWith('exec:') ? execFields : undefined;
}

/** The settings that promptfoo sends to the text generation of Hugging Face. */
const GENERATION_KEYS = [
  'top_k',
  'top_p',
  'temperature',
  'repetition_penalty',
  'max_new_tokens',
  'max_time',
  'return_full_text',
  'num_return_sequences',
  'do_sample',
  'use_cache',
  'wait_for_model',
];

/** Returns the entry for a model of Hugging Face's text generation. */
function textGeneration(
  provider: WrittenProvider,
  model: string,
  conversion: Conversion,
): DeclaredProvider | undefined {
  const config = provider.config ? valuesByKey(provider.config, 'config') : new Map<string, YamlValue>();
  const elsewhere = config.get('apiEndpoint') ?? config.get('chatCompletion');
  if (elsewhere) {
    conversion.note(
      elsewhere,
      `the provider \`${provider.id}\` has no equivalent: it is asked in another way`,
    );
    return undefined;
  }
  const set = [...config].filter(([key]) => GENERATION_KEYS.includes(key));
  const parameters = {
    return_full_text: false,
    ...Object.fromEntries(set.map(([key, value]) => [key, value.json()])),
  };
  const fields = {
    modality: 'text',
    address: `https://router.huggingface.co/hf-inference/models/${model}`,
    headers: { authorization: 'Bearer ${env.HF_TOKEN}' },
    body: { inputs: '${prompt}', parameters },
    output: 'generated_text || [0].generated_text',
  };
  const name = uniqueName(provider, 'address', fields, conversion);
  return { model: name, entry: { model: name, ...fields } };
}

/** Returns a name that no built-in model and no provider with another entry has. */
function uniqueName(
  { id, label }: WrittenProvider,
  kind: string,
  fields: JsonObject,
  { taken, declared }: Conversion,
): string {
  const words = (label ?? id.replace(/^(?:exec:|python:|file:\/\/|https?:\/\/)/u, '')).toLowerCase();
  const slug = words
    .replace(/[^a-z\d]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, 40);
  const name = slug === '' ? kind : `${slug}-${kind}`;
  const entry = JSON.stringify(fields);
  const isFree = (candidate: string): boolean =>
    !taken.includes(candidate) && (declared.get(candidate) ?? entry) === entry;
  let free = name;
  for (let number = 2; !isFree(free); number += 1) free = `${name}-${number}`;
  declared.set(free, entry);
  return free;
}

const SHELL_WORD = /[^\s"']+|"(?<double>[^"]*)"|'(?<single>[^']*)'/gu;

/** Splits a command line like promptfoo. */
export function commandWords(line: string): string[] {
  return [...line.matchAll(SHELL_WORD)].map(
    ({ 0: word, groups }) => groups?.['double'] ?? groups?.['single'] ?? word,
  );
}

function execFields({ id, config, at }: WrittenProvider, conversion: Conversion): EntryFields | undefined {
  const words = commandWords(id.slice('exec:'.length));
  if (words.length === 0) {
    conversion.note(at, `the provider \`${id}\` names no program`);
    return undefined;
  }
  const options = providerOptions(config);
  if (USES_ENVIRONMENT.test(options)) {
    conversion.note(at, `the provider \`${id}\` has no equivalent: its config names environment variables`);
    return undefined;
  }
  const names = JSON.stringify(conversion.jsonVariables);
  return {
    fields: { program: programWords('node', '-e', NODE_EXEC, HERE, JSON.stringify(words), options, names) },
  };
}

function fileFields(
  { id, config, at, isJudge = false }: WrittenProvider,
  { file, name }: { readonly file: string; readonly name: string },
  conversion: Conversion,
): EntryFields | undefined {
  if (!conversion.has(file)) {
    conversion.note(at, `the file of the provider \`${id}\` doesn't exist`);
    return undefined;
  }
  conversion.read(file, at);
  if (isUnreadable(file, conversion)) {
    conversion.note(at, `the provider \`${id}\` is TypeScript, which ${NEEDS_TYPES}`);
    return undefined;
  }
  if (!conversion.runsPrograms && /\.[cm]?ts$/u.test(file)) {
    conversion.tell(
      at,
      `the provider \`${id}\` is TypeScript: its entry needs tsx or jiti in the project, or Node 22.18`,
    );
  }
  const settings = providerOptions(config);
  // The program fills in plain names.
  if (USES_ENVIRONMENT.test(settings.replace(VARIABLE_OF_ENVIRONMENT, ''))) {
    conversion.note(
      at,
      `the provider \`${id}\` has no equivalent: its config uses the environment in other ways`,
    );
    return undefined;
  }
  const options = [settings, JSON.stringify(conversion.jsonVariables)];
  const words = file.endsWith('.py')
    ? [PYTHON, '-c', PYTHON_PROVIDER, HERE, file, name === '' ? 'call_api' : name, ...options]
    : ['node', '-e', nodeProvider(!conversion.runsPrograms), HERE, file, name, ...options];
  return resultFields(words, conversion.runsPrograms && !isJudge);
}

/** Returns the fields of an entry whose program asks Claude by its Agent SDK. */
function agentFields(
  { config, isJudge = false }: WrittenProvider,
  conversion: Conversion,
): EntryFields | undefined {
  const call = claudeAgentCall(config ? valuesByKey(config, 'config') : new Map(), conversion);
  if (call === undefined) return undefined;
  const words = ['node', '-e', NODE_CLAUDE_AGENT, HERE, JSON.stringify(call), '[]'];
  return resultFields(words, conversion.runsPrograms && !isJudge);
}

/** Returns the fields of an entry whose program prints the result of a provider. */
function resultFields(words: readonly string[], givesResults: boolean): EntryFields {
  return {
    givesResults,
    fields: {
      program: programWords(...words),
      ...(!givesResults && { output: 'output' }),
      cost: 'cost',
      tokens: { input: 'tokenUsage.prompt', output: 'tokenUsage.completion' },
    },
  };
}

/** The condition for TypeScript, in messages. */
export const NEEDS_TYPES = 'this executable can only run with tsx or jiti in the project';

/** Returns true if a file is TypeScript and neither Node nor the file's project can run it. */
export function isUnreadable(file: string, conversion: Conversion): boolean {
  if (!/\.[cm]?ts$/u.test(file) || !conversion.has(file)) return false;
  if (loadsTypes()) return false;
  const projectRequire = createRequire(path.resolve(conversion.directory, file));
  return !['tsx/cjs/api', 'jiti'].some(name => canResolve(projectRequire, name));
}

function canResolve(projectRequire: NodeJS.Require, name: string): boolean {
  try {
    return projectRequire.resolve(name) !== '';
  } catch {
    return false;
  }
}

const HERE = '\0here';

/** Returns the words of a program, with the messages as the last one. */
function programWords(...words: readonly string[]): string[] {
  return [...words.map(word => (word === HERE ? '${here}' : escapePlaceholders(word))), '${messages}'];
}

/** Matches a use of the environment, which could show a key in the list of processes if it were filled in here. */
const USES_ENVIRONMENT = /\{\{[^{}]*\benv[.[]/u;

function providerOptions(config: YamlValue | undefined): string {
  return JSON.stringify({ config: config?.json() ?? {} });
}

const KNOWN = [
  'url',
  'method',
  'headers',
  'body',
  'queryParams',
  'timeout',
  'timeoutMs',
  'transformResponse',
  'responseParser',
  'maxRetries',
];

/** Keys with which promptfoo asks an address in another way, or reads its answer in another way. */
const PROVIDER_UNSUPPORTED_KEYS = [
  'multipart',
  'request',
  'tools',
  'tool_choice',
  'transformToolsFormat',
  'session',
  'sessionParser',
  'sessionSource',
  'transformRequest',
  'validateStatus',
  'tokenEstimation',
  'auth',
  'signatureAuth',
  'tls',
];

function addressFields(provider: WrittenProvider, conversion: Conversion): EntryFields | undefined {
  const { id, config } = provider;
  const entries = config ? valuesByKey(config, 'config') : new Map<string, YamlValue>();
  try {
    for (const [key, value] of entries) {
      if (KNOWN.includes(key)) continue;
      if (!conversion.isForTest || PROVIDER_UNSUPPORTED_KEYS.includes(key)) {
        throw new NoEquivalent(value, `it has \`${key}\``);
      }
      conversion.tell(value, `\`${key}\` of a provider's config is a key that promptfoo ignores too`);
    }
    const address = addressIn(provider, entries, conversion);
    const request = declaredRequestFields(provider, entries, conversion);
    const { output, transform } = answerFields(provider, entries, conversion);
    const timeout = (entries.get('timeoutMs') ?? entries.get('timeout'))?.json();
    const fields = {
      address,
      ...request,
      ...(output !== undefined && output !== '' && { output }),
      ...(typeof timeout === 'number' && timeout >= 1000 && { timeout: `${Math.floor(timeout / 1000)}s` }),
    };
    return { fields, ...(transform !== undefined && { transform }) };
  } catch (error) {
    if (!(error instanceof NoEquivalent)) throw error;
    conversion.note(error.at, `the provider \`${id}\` has no equivalent: ${error.message}`);
    return undefined;
  }
}

/** A part of an address that no entry of a models file can express. */
class NoEquivalent extends Error {
  constructor(
    readonly at: YamlValue,
    message: string,
  ) {
    super(message);
  }
}

type ConfigEntries = ReadonlyMap<string, YamlValue>;

/** Returns the address with its query. @throws {NoEquivalent} */
function addressIn({ id, at }: WrittenProvider, entries: ConfigEntries, conversion: Conversion): string {
  const place = entries.get('url') ?? at;
  const bare = convertText(withVariable(entries.get('url')?.scalar ?? id, conversion));
  const query = queryText(entries.get('queryParams')?.json() ?? {});
  if (bare === undefined || query === undefined || !/^https?:\/\//u.test(bare)) {
    const [, name] = /^\$\{env\.(\w+)\}/u.exec(bare ?? '') ?? [];
    throw new NoEquivalent(
      place,
      name === undefined ? 'its address has more than variables' : `its address needs ${name}`,
    );
  }
  const address = query === '' ? bare : `${bare}${bare.includes('?') ? '&' : '?'}${query}`;
  const [origin = ''] = /^https?:\/\/[^/?#]*/u.exec(address) ?? [];
  if (origin.includes('$') || !isAllowedOrigin(origin)) {
    throw new NoEquivalent(place, 'its host is not literal, or is asked by http and is not this machine');
  }
  return address;
}

/** Returns the method, the headers and the body, without defaults. @throws {NoEquivalent} */
function declaredRequestFields(
  provider: WrittenProvider,
  entries: ConfigEntries,
  conversion: Conversion,
): JsonObject {
  const { at } = provider;
  const filled = (value: JsonValue): JsonValue =>
    withFallbacks(withoutUnknown(value, conversion), provider, conversion);
  const headers = convertPlaceholders(filled(entries.get('headers')?.json() ?? {}));
  const written = entries.get('body');
  const body = written && convertBody(filled(written.json()));
  if (headers === undefined || (written && body === undefined)) {
    throw new NoEquivalent(written ?? at, 'its headers or its body have more than variables');
  }
  const method = entries.get('method')?.scalar?.toUpperCase() ?? (written ? 'POST' : 'GET');
  return {
    ...(method !== 'POST' && { method }),
    ...(Object.keys(headers as JsonObject).length > 0 && { headers }),
    ...(body !== undefined && { body }),
  };
}

/** Returns a value without fields of variables that no test has, such as `{{context.uuid}}`: they are empty in promptfoo too. */
function withoutUnknown(value: JsonValue, { variables }: Conversion): JsonValue {
  const text = JSON.stringify(value).replaceAll(FIELD_OF_VARIABLE, (tag, name: string) =>
    [...variables, 'env', 'prompt'].includes(name) ? tag : '',
  );
  return parseJson(text) ?? value;
}

/** Returns a value with an input of its own for each variable that has a default, such as `{{ name | default("none") }}`. */
function withFallbacks(
  value: JsonValue,
  { isJudge = false }: WrittenProvider,
  conversion: Conversion,
): JsonValue {
  const text = JSON.stringify(value).replaceAll(
    VARIABLE_WITH_DEFAULT,
    (tag, name: string, single?: string, double?: string) => {
      const fallback = single ?? double ?? '';
      // A variable that is not given is empty without a default too.
      if (fallback === '' || name === 'prompt') return `{{${name}}}`;
      return isJudge || !conversion.isForTest ? tag : `{{${conversion.inputOr(name, fallback)}}}`;
    },
  );
  return parseJson(text) ?? value;
}

/** Matches it within JSON. */
const VARIABLE_WITH_DEFAULT =
  /\{\{\s*([A-Za-z_]\w*)\s*\|\s*default\(\s*(?:'([^'"\\]*)'|\\"([^'"\\]*)\\")\s*\)\s*\}\}/gu;

const FIELD_OF_VARIABLE = /\{\{\s*([A-Za-z_]\w*)(?:\.\w+)+\s*\}\}/gu;

/** Returns how the answer is read: by an expression, else by code, which keeps the kinds of values. @throws {NoEquivalent} */
function answerFields(
  { at, isJudge = false }: WrittenProvider,
  entries: ConfigEntries,
  { runsPrograms }: Conversion,
): { readonly output?: string | undefined; readonly transform?: string } {
  const usesCode = runsPrograms && !isJudge;
  const response = entries.get('transformResponse') ?? entries.get('responseParser');
  const parser = response?.scalar ?? '';
  if (parser.startsWith('file://')) throw new NoEquivalent(response ?? at, 'its transform is a file');
  const output = response && !usesCode ? jmespathOf(parser) : undefined;
  if (isJudge && response && output === undefined) {
    throw new NoEquivalent(response, 'it judges, and code reads its answer');
  }
  if (output !== undefined || !(response || usesCode)) return { output };
  return { transform: responseTransform(response ? parser : '({ output: json || text })') };
}

/**
 * Returns an address with the environment variable at its beginning filled in, if that is an address. An entry that is only
 * shown has a stand-in, because the value may hold a secret.
 */
function withVariable(address: string, { env, runsPrograms }: Conversion): string {
  return address.replace(/^\{\{\s*env\.(\w+)\s*\}\}/u, (tag, name: string) => {
    const value = Object.hasOwn(env, name) ? (env[name] ?? '') : '';
    if (!/^https?:\/\//u.test(value)) return tag;
    return runsPrograms ? value : `https://value-of-${name}`;
  });
}

function queryText(query: JsonValue): string | undefined {
  const pairs = Object.entries(query ?? {}).map(([key, value]) => {
    const ours = convertText(String(value));
    // Filled-in values are encoded later.
    return ours && `${encodeURIComponent(key)}=${ours.includes('${') ? ours : encodeURIComponent(ours)}`;
  });
  return pairs.every(pair => pair !== undefined) ? pairs.join('&') : undefined;
}

/** Returns code that transforms the answer of an address like promptfoo. */
function responseTransform(parser: string): string {
  const code = parser.trim();
  const isFunction = /^(?:\(.*?\)\s*=>|function\s*\(.*?\))/u.test(code);
  const body = isFunction
    ? `return (${code.replace(/;$/u, '')})(json, text, {});`
    : /\breturn\b/u.test(code)
      ? code
      : `return (${code.replace(/;$/u, '')});`;
  return `let json = null;
try { json = JSON.parse(output); } catch {}
const made = (function (json, text) {
${body}
})(json, output);
const isObject = made !== null && typeof made === 'object' && !Array.isArray(made);
const response = isObject && ('output' in made || 'error' in made) ? made : { output: made };
return response.output || response;`;
}

/** Returns true if an origin has https or is this machine. */
function isAllowedOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || isLoopbackHost(hostname);
}

/** Fills in a JSON body value by value, like promptfoo. */
function convertBody(body: JsonValue): JsonValue | undefined {
  const json = typeof body === 'string' ? parseJson(body) : undefined;
  return convertPlaceholders(typeof json === 'object' && json !== null ? json : body);
}

/** Returns a value with our placeholders; undefined if it has other Nunjucks tags. */
function convertPlaceholders(value: JsonValue): JsonValue | undefined {
  if (typeof value === 'string') return convertText(value);
  if (isJsonList(value)) {
    const items = value.map(convertPlaceholders);
    return items.every(item => item !== undefined) ? items : undefined;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields: Record<string, JsonValue> = {};
  for (const [key, field] of Object.entries(value)) {
    const ours = convertPlaceholders(field);
    if (ours === undefined || key.includes('{')) return undefined;
    fields[key] = ours;
  }
  return fields;
}

const VARIABLE_OF_ENVIRONMENT = /\{\{\s*env\.(?<name>[A-Za-z_]\w*)\s*\}\}/gu;

function convertText(text: string): string | undefined {
  const parts = escapePlaceholders(text).split(VARIABLE_OF_ENVIRONMENT);
  const texts = parts.map((part, index) => {
    if (index % 2 === 1) return `\${env.${part}}`;
    const { pieces, isPlain } = splitNunjucks(part);
    const joined = pieces.map(piece => {
      if ('text' in piece) return piece.text;
      if (!('input' in piece)) return '';
      return piece.input === 'prompt' ? '${prompt}' : `\${input.${piece.input}}`;
    });
    return isPlain ? joined.join('') : undefined;
  });
  return texts.every(part => part !== undefined) ? texts.join('') : undefined;
}

/** Returns a path such as `json.a.b[0]` as JMESPath; an empty text for the whole answer. */
function jmespathOf(transform: string): string | undefined {
  const path = transform
    .trim()
    .replace(/^\(\s*json\s*(?:,\s*\w+\s*)*\)\s*=>\s*/u, '')
    .replace(/;$/u, '');
  if (path === 'text') return '';
  if (path === 'json') return '@';
  const { rest } = /^json(?<rest>(?:\??\.[A-Za-z_]\w*|(?:\?\.)?\[\d+\])+)$/u.exec(path)?.groups ?? {};
  return rest?.replaceAll('?.[', '[').replaceAll('?.', '.').replace(/^\./u, '');
}

/** Escapes text that would otherwise become a placeholder. */
function escapePlaceholders(text: string): string {
  return text.replaceAll('${', () => '$${');
}
