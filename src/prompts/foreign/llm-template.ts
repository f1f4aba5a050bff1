import { withoutFile } from '../../files/formats/file-fault.ts';
import {
  isJsonList,
  type JsonObject,
  type JsonValue,
  withoutUndefined,
} from '../../files/formats/json.ts';
import { toTextOrEmpty } from '../../files/formats/json-fields.ts';
import type { YamlEntries, YamlEntry } from '../../files/formats/yaml.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Findings } from '../findings.ts';
import { checkOption } from '../parse/option-values.ts';
import { formatPromptFile, withEndMark } from './file-texts.ts';
import type { ForeignFormat, ForeignPrompt } from './foreign-format.ts';
import { parseLibyaml } from './parse-libyaml.ts';
import { END_MARK, listInputs, type Piece } from './template-pieces.ts';

const LLM_CONVERTED_KEYS = [
  'name',
  'prompt',
  'system',
  'model',
  'defaults',
  'options',
  'schema_object',
];
const EXTRACT_KEYS = ['extract', 'extract_last'];

/** Keys without an equivalent in prompt files, with the feature that each belongs to. */
const LLM_UNSUPPORTED_KEYS: Readonly<Record<string, string>> = {
  fragments: 'fragments',
  system_fragments: 'fragments',
  tools: 'tools',
  functions: 'tools',
  attachments: 'attachments',
  attachment_types: 'attachments',
};

const LLM_TEMPLATE_KEYS = new Set([
  ...LLM_CONVERTED_KEYS,
  ...EXTRACT_KEYS,
  ...Object.keys(LLM_UNSUPPORTED_KEYS),
]);

/**
 * The input, after a line break. Without the mark, Handlebars would treat the block as alone on its
 * line, and drop the break.
 */
const APPENDED_INPUT: readonly Piece[] = [
  END_MARK,
  { tag: '{{#if input}}' },
  { text: '\n' },
  { input: 'input' },
  { tag: '{{/if}}' },
];

/**
 * Returns true if a map is an `llm` template: it has a text or a schema, and only keys of that
 * format.
 */
export function isLlmTemplate(template: JsonObject): boolean {
  const hasText = typeof template['prompt'] === 'string' || typeof template['system'] === 'string';
  return (
    (hasText || isJsonObject(template['schema_object'])) &&
    Object.keys(template).every(key => LLM_TEMPLATE_KEYS.has(key))
  );
}

export const LLM_TEMPLATE: ForeignFormat = {
  name: 'a template of `llm`',
  read: ({ text }, findings) =>
    findings.attempt(() => {
      const entries = parseLibyaml(text).readEntries('a template of `llm`');
      return readLlmTemplate(new Map(entries.map(entry => [entry.key, entry])), findings);
    }),
};

/** Reads a template: a system prompt and a prompt, the options of the model, and the output. */
function readLlmTemplate(entries: YamlEntries, findings: Findings): ForeignPrompt {
  for (const entry of entries.values()) reportUnsupportedKey(entry, findings);

  const prompt = parsePieces(entries.get('prompt'));
  const system = parsePieces(entries.get('system'));

  // `llm` appends the input to a prompt that doesn't use it.
  const appendsInput = prompt !== undefined && !listInputs(prompt).includes('input');
  const body: Piece[] = [
    ...(system === undefined ? [] : [{ tag: '{{role "system"}}' }, ...system]),
    { tag: '{{role "user"}}' },
    ...(prompt ?? [{ input: 'input' }]),
    ...(appendsInput ? APPENDED_INPUT : []),
  ];

  const options = readModelOptions(entries, findings);
  const config = Object.fromEntries(options.map(({ key, value }) => [key, value]));
  const frontMatter: JsonObject = {
    ...withoutUndefined({
      model: readScalar(entries, 'model'),
      config: options.length > 0 ? config : undefined,
    }),
    ...readLlmOutput(entries, findings),
  };

  const systemUsesInput = system !== undefined && listInputs(system).includes('input');
  const inputs = {
    defaults: readDefaults(entries),
    ...(appendsInput && !systemUsesInput && { optional: ['input'] }),
  };
  const top = { line: 1, column: 1 };

  return {
    prompt: formatPromptFile(frontMatter, withEndMark(body), inputs),
    places: {
      model: withoutFile(entries.get('model') ?? top),
      output: withoutFile(entries.get('schema_object') ?? top),
      config: Object.fromEntries(options.map(({ key, place }) => [key, withoutFile(place)])),
      defaults: {},
    },
  };
}

/** Reports a key that has no equivalent, unless it is empty. */
function reportUnsupportedKey(entry: YamlEntry, findings: Findings): void {
  const { key, value } = entry;
  const unsupportedFeature = Object.hasOwn(LLM_UNSUPPORTED_KEYS, key)
    ? LLM_UNSUPPORTED_KEYS[key]
    : undefined;
  const isEmpty =
    value.isEmpty || (isJsonList(value.toJson()) && value.readItems(key).length === 0);
  if (unsupportedFeature === undefined || isEmpty) return;
  findings.addFault(entry, `\`${key}\`: ${unsupportedFeature} of \`llm\` are not supported here`);
}

/**
 * Matches `$name`, `${name}` and `$$`, as Python's string.Template has them:
 * https://docs.python.org/3/library/string.html
 */
const LLM_VARIABLE = /\$(?:(?<dollar>\$)|(?<named>[A-Za-z_]\w*)|\{(?<braced>[A-Za-z_]\w*)\})/gu;

/** Returns the pieces of a text with variables; undefined if it is empty. */
function parsePieces(entry: YamlEntry | undefined): Piece[] | undefined {
  if (!entry || entry.value.isEmpty) return undefined;

  const text = entry.value.readText(entry.key);
  const pieces: Piece[] = [];
  let textStart = 0;
  for (const { 0: variableText, index, groups } of text.matchAll(LLM_VARIABLE)) {
    const name = groups?.['named'] ?? groups?.['braced'];
    pieces.push(
      { text: text.slice(textStart, index) },
      name === undefined ? { text: '$' } : { input: name },
    );
    textStart = index + variableText.length;
  }

  pieces.push({ text: text.slice(textStart) });
  const joinedPieces = joinAdjacentTexts(pieces);
  return joinedPieces.length > 0 ? joinedPieces : undefined;
}

/** Joins adjacent texts, so that they are escaped together. */
function joinAdjacentTexts(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if ('text' in piece && last !== undefined && 'text' in last) {
      result[result.length - 1] = { text: last.text + piece.text };
    } else if (!('text' in piece) || piece.text !== '') {
      result.push(piece);
    }
  }
  return result;
}

function readScalar(entries: YamlEntries, key: string): string | undefined {
  const entry = entries.get(key);
  return entry && !entry.value.isEmpty ? entry.value.readText(key) : undefined;
}

function readDefaults(entries: YamlEntries): Record<string, string> {
  const values = entries.get('defaults')?.value.readEntries('defaults') ?? [];
  return Object.fromEntries(values.map(({ key, value }) => [key, toTextOrEmpty(value.toJson())]));
}

/** Names of options in `llm`, if they differ from ours. */
const RENAMED_OPTIONS: Readonly<Record<string, string>> = {
  max_tokens: 'maxOutputTokens',
  max_output_tokens: 'maxOutputTokens',
  num_predict: 'maxOutputTokens',
  top_p: 'topP',
  top_k: 'topK',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  stop: 'stopSequences',
};

/** An option of the model under our name. */
interface ModelOption {
  readonly key: string;
  readonly value: JsonValue;
  readonly place: YamlEntry;
}

function readModelOptions(entries: YamlEntries, findings: Findings): ModelOption[] {
  const optionEntries = entries.get('options')?.value.readEntries('options') ?? [];
  const options = optionEntries
    .filter(({ key }) => key !== 'json_object')
    .map(place => {
      const key = Object.hasOwn(RENAMED_OPTIONS, place.key)
        ? (RENAMED_OPTIONS[place.key] ?? place.key)
        : place.key;
      return { key, value: place.value.toJson(), place };
    });
  for (const { key, value, place } of options) checkOption(key, value, place, findings);
  return options;
}

/** Returns which code block of the answer is the output; undefined if the whole answer is. */
function readExtractedBlock(entries: YamlEntries): 'first' | 'last' | undefined {
  const [first, last] = EXTRACT_KEYS.map(key => entries.get(key)?.value.toJson() === true);
  if (last) return 'last';
  return first ? 'first' : undefined;
}

function readLlmOutput(entries: YamlEntries, findings: Findings): JsonObject {
  const extract = readExtractedBlock(entries);
  const entry = entries.get('schema_object');

  const schema = entry?.value.toJson();
  if (entry && schema !== null && !isJsonObject(schema)) {
    findings.addFault(entry, '`schema_object` must be a JSON Schema');
  }

  const options = entries.get('options')?.value.readEntries('options') ?? [];
  const isJson = options.some(({ key, value }) => key === 'json_object' && value.toJson() === true);
  const output = {
    ...((isJsonObject(schema) || isJson) && { format: 'json' }),
    ...(isJsonObject(schema) && { schema }),
    ...(extract !== undefined && { extract }),
  };
  return Object.keys(output).length > 0 ? { output } : {};
}
