import { stringify } from 'yaml';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, ownValue } from '../files/json.ts';
import {
  isEmpty,
  type Place,
  parseYamlWithFaults,
  type YamlEntry,
  type YamlReader,
  type YamlValue,
} from '../files/yaml-file.ts';
import { BOUNDS } from '../prompts/bounds.ts';
import type { PromptPlaces } from '../prompts/definition.ts';
import type { Findings } from '../prompts/findings.ts';
import { asTemplate, END, inputsIn, type Piece, piecesOf } from './as-template.ts';
import type { ForeignTests } from './foreign-tests.ts';
import { readGithubTests } from './github-tests.ts';

/** A `.prompt.yml` of GitHub Models, as a prompt file and the cases of its tests. */
export interface GithubPrompt {
  /** The text of a prompt file of ours. */
  readonly prompt: string;
  /** Where its parts stand in the file it was read from. */
  readonly places: PromptPlaces;
  /** Undefined if there is no test data. */
  readonly tests: ForeignTests | undefined;
}

const KEYS = new Set([
  'name',
  'description',
  'model',
  'modelParameters',
  'messages',
  'responseFormat',
  'jsonSchema',
  'testData',
  'evaluators',
]);
const ROLES: Readonly<Record<string, string>> = { system: 'system', user: 'user', assistant: 'model' };
/** Their names of parameters, where ours differ. */
const PARAMETERS: Readonly<Record<string, string>> = {
  maxTokens: 'maxOutputTokens',
  maxCompletionTokens: 'maxOutputTokens',
  max_tokens: 'maxOutputTokens',
};

/** Whether a text is YAML with messages, whatever its file is called. */
export function isGithubPrompt(whole: JsonValue): boolean {
  const messages = isJsonObject(whole) ? ownValue(whole, 'messages') : undefined;
  return isJsonList(messages) && messages.some(message => isJsonObject(message) && 'content' in message);
}

/**
 * Reads the `.prompt.yml` of GitHub Models. What is wrong becomes a finding; undefined where nothing can be read.
 *
 * @param testFindings takes what is wrong with its tests, which need not keep it from being run
 */
export function readGithubPrompt(
  text: string,
  findings: Findings,
  testFindings: Findings,
): GithubPrompt | undefined {
  const { root, read, faults } = parseYamlWithFaults(text);
  for (const fault of faults) findings.fault(fault, fault.what);
  if (faults.length > 0) return undefined;
  return findings.attempt(() => new GithubReader(read, findings, testFindings).prompt(root));
}

class GithubReader {
  readonly #read: YamlReader;
  readonly #findings: Findings;
  readonly #testFindings: Findings;

  constructor(read: YamlReader, findings: Findings, testFindings: Findings) {
    this.#read = read;
    this.#findings = findings;
    this.#testFindings = testFindings;
  }

  prompt(root: YamlValue): GithubPrompt {
    const entries = new Map(
      this.#read.entries(root, 'a prompt of GitHub Models').map(entry => [entry.key, entry]),
    );
    for (const entry of entries.values()) {
      if (KEYS.has(entry.key)) continue;
      this.#findings.note(entry, `\`${entry.key}\` is not a key of GitHub Models: it has no effect`);
    }
    const body = this.#messages(entries.get('messages'), root);
    const parameters = this.#parameters(entries.get('modelParameters'));
    const head = {
      ...this.#texts(entries),
      ...(parameters.length > 0 && {
        config: Object.fromEntries(parameters.map(({ key, value }) => [key, value])),
      }),
      ...inputSchema(inputsIn(body)),
      ...this.#output(entries),
    };
    const top = { line: root.line, column: root.column };
    return {
      prompt: `---\n${stringify(head, { lineWidth: 0 })}---\n${asTemplate(ended(body))}\n`,
      places: {
        model: placeOf(entries.get('model')?.value ?? top),
        output: placeOf(entries.get('jsonSchema') ?? top),
        config: Object.fromEntries(parameters.map(({ key, place }) => [key, placeOf(place)])),
        defaults: {},
      },
      tests: readGithubTests(entries, this.#read, this.#testFindings, inputsIn(body)),
    };
  }

  #texts(entries: ReadonlyMap<string, YamlEntry>): JsonObject {
    const texts = { title: 'name', description: 'description', model: 'model' };
    return Object.fromEntries(
      Object.entries(texts).flatMap(([ours, theirs]) => {
        const entry = entries.get(theirs);
        const text = entry && this.#text(entry, theirs);
        return text === undefined ? [] : [[ours, text]];
      }),
    );
  }

  /** Undefined if nothing is written. */
  #text(entry: YamlEntry, name: string): string | undefined {
    if (isEmpty(entry.value)) return undefined;
    return this.#findings.attempt(() => this.#read.text(entry.value, name));
  }

  #parameters(entry: YamlEntry | undefined): { key: string; value: JsonValue; place: Place }[] {
    const entries = entry && this.#findings.attempt(() => this.#read.entries(entry.value, 'modelParameters'));
    return (entries ?? []).map(({ key, value, ...place }) => ({
      key: Object.hasOwn(PARAMETERS, key) ? (PARAMETERS[key] ?? key) : key,
      value: this.#findings.attempt(() => this.#read.json(value)) ?? null,
      place,
    }));
  }

  #messages(entry: YamlEntry | undefined, root: YamlValue): Piece[] {
    const items = entry && this.#findings.attempt(() => this.#read.items(entry.value, 'messages'));
    if (!items || items.length === 0) {
      if (items || !entry) this.#findings.fault(entry ?? root, '`messages` must be a list with a message');
      return [];
    }
    const messages = items.map(item => this.#findings.attempt(() => this.#message(item)) ?? []);
    const bytes = messages
      .flat()
      .reduce((sum, piece) => sum + ('text' in piece ? Buffer.byteLength(piece.text) : 0), 0);
    if (bytes > BOUNDS.fileBytes && entry) {
      this.#findings.fault(entry, `the messages are larger than ${BOUNDS.fileBytes / 1024} KiB`);
    }
    return messages.flat();
  }

  #message(item: YamlValue): Piece[] {
    const entries = this.#read.entries(item, 'a message');
    const entry = (name: string): YamlEntry | undefined => entries.find(({ key }) => key === name);
    for (const stranger of entries) {
      if (stranger.key !== 'role' && stranger.key !== 'content') {
        this.#findings.note(stranger, `\`${stranger.key}\` of a message has no effect`);
      }
    }
    const [role, content] = [entry('role'), entry('content')];
    const name = role && this.#text(role, 'role')?.toLowerCase();
    if (name === undefined || !Object.hasOwn(ROLES, name)) {
      this.#findings.fault(role?.value ?? item, 'the `role` of a message must be system, user or assistant');
    }
    if (!content) this.#findings.fault(item, 'a message needs `content`');
    const text = content && !isEmpty(content.value) ? this.#read.text(content.value, 'content') : '';
    return [{ tag: `{{role "${ROLES[name ?? ''] ?? 'user'}"}}` }, ...piecesOf(text)];
  }

  /** `jsonSchema` is the text of `{name, strict, schema}`, or that map itself. */
  #output(entries: ReadonlyMap<string, YamlEntry>): JsonObject {
    const format = entries.get('responseFormat');
    const name = format && this.#text(format, 'responseFormat');
    if (!format || name === undefined || name === 'text') return {};
    if (name === 'json_object') return { output: { format: 'json' } };
    if (name !== 'json_schema') {
      this.#findings.fault(
        format.value,
        `\`responseFormat\` is text, json_object or json_schema, not \`${name}\``,
      );
      return {};
    }
    const written = entries.get('jsonSchema');
    const value = written && this.#findings.attempt(() => this.#read.json(written.value));
    const schema = typeof value === 'string' ? parseJson(value) : value;
    if (isJsonObject(schema)) {
      return { output: { format: 'json', schema: ownValue(schema, 'schema') ?? schema } };
    }
    this.#findings.fault(
      written?.value ?? format.value,
      '`jsonSchema` must be a JSON Schema, as JSON or YAML',
    );
    return {};
  }
}

/** Blanks at the end of a file are layout, but these are text. */
function ended(body: readonly Piece[]): readonly Piece[] {
  const last = body.at(-1);
  return last && 'text' in last && /\s$/u.test(last.text) ? [...body, END] : body;
}

/** As JSON Schema, in which an input may have any name. */
function inputSchema(names: readonly string[]): JsonObject {
  if (names.length === 0) return {};
  const properties = Object.fromEntries(names.map(name => [name, { type: 'string' }]));
  return { input: { schema: { type: 'object', properties, required: names } } };
}

function placeOf({ line, column }: Place): Place {
  return { line, column };
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
