import { type FilePosition, withoutFile } from '../../files/formats/file-fault.ts';
import {
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../files/formats/json.ts';
import type { YamlEntry, YamlValue } from '../../files/formats/yaml.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import { BOUNDS } from '../bounds.ts';
import type { Findings } from '../findings.ts';
import { checkOption } from '../parse/option-values.ts';
import { formatPromptFile, withEndMark } from './file-texts.ts';
import type { ForeignFormat, ForeignPrompt } from './foreign-format.ts';
import { readGithubTests } from './github-tests.ts';
import { parseLibyaml } from './parse-libyaml.ts';
import { findChatRole, listInputs, type Piece, splitAtInputs } from './template-pieces.ts';

const GITHUB_PROMPT_KEYS = new Set([
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

/** Names of parameters at GitHub Models, if they differ from ours. */
const RENAMED_PARAMETERS: Readonly<Record<string, string>> = {
  maxTokens: 'maxOutputTokens',
  maxCompletionTokens: 'maxOutputTokens',
  max_tokens: 'maxOutputTokens',
  top_p: 'topP',
};

/** Parameters that are sent to providers; others are left out with a note. */
const SUPPORTED_PARAMETERS = new Set([
  ...Object.keys(RENAMED_PARAMETERS),
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'seed',
  'stopSequences',
  'frequencyPenalty',
  'presencePenalty',
  'reasoningEffort',
]);

/** Returns true if a YAML document has messages, whatever the file's name. */
export function isGithubPrompt(document: JsonValue): boolean {
  const messages = findOwnValue(document, 'messages');
  return (
    isJsonList(messages) && messages.some(message => isJsonObject(message) && 'content' in message)
  );
}

/** The `.prompt.yml` of GitHub Models, with the cases of its tests. */
export const GITHUB_MODELS: ForeignFormat = {
  name: 'a prompt of GitHub Models',
  read: ({ text }, findings, testFindings) =>
    findings.attempt(() => {
      const root = parseLibyaml(text);
      return new GithubReader(root, findings).readPrompt(testFindings);
    }),
};

/** A parameter of the model under our name. */
interface ModelParameter {
  readonly key: string;
  readonly value: JsonValue;
  readonly place: FilePosition;
}

class GithubReader {
  readonly #root: YamlValue;
  readonly #entries: ReadonlyMap<string, YamlEntry>;
  readonly #findings: Findings;

  constructor(root: YamlValue, findings: Findings) {
    this.#root = root;
    this.#findings = findings;
    const entries = root.readEntries('a prompt of GitHub Models');
    this.#entries = new Map(entries.map(entry => [entry.key, entry]));
  }

  readPrompt(testFindings: Findings): ForeignPrompt {
    const entries = this.#entries;
    for (const entry of entries.values()) {
      if (GITHUB_PROMPT_KEYS.has(entry.key)) continue;
      this.#findings.addNote(
        entry,
        `\`${entry.key}\` is not a key of GitHub Models: it has no effect`,
      );
    }

    const body = this.#readMessages();
    const parameters = this.#readParameters();
    const frontMatter = {
      ...this.#readTextFields(),
      ...(parameters.length > 0 && {
        config: Object.fromEntries(parameters.map(({ key, value }) => [key, value])),
      }),
      ...this.#readOutput(),
    };

    return {
      prompt: formatPromptFile(frontMatter, withEndMark(body)),
      places: {
        model: withoutFile(entries.get('model')?.value ?? this.#root),
        output: withoutFile(entries.get('jsonSchema') ?? this.#root),
        config: Object.fromEntries(parameters.map(({ key, place }) => [key, withoutFile(place)])),
        defaults: {},
      },
      tests: readGithubTests(entries, testFindings, listInputs(body)),
    };
  }

  #readTextFields(): JsonObject {
    const texts = { title: 'name', description: 'description', model: 'model' };
    return Object.fromEntries(
      Object.entries(texts).flatMap(([ours, theirs]) => {
        const text = this.#readText(this.#entries.get(theirs)?.value, theirs);
        return text === undefined ? [] : [[ours, text]];
      }),
    );
  }

  /** Returns a text; undefined if it is empty. */
  #readText(value: YamlValue | undefined, name: string): string | undefined {
    if (!value || value.isEmpty) return undefined;
    return this.#findings.attempt(() => value.readStorableText(name));
  }

  #readParameters(): ModelParameter[] {
    const value = this.#entries.get('modelParameters')?.value;
    const entries = this.#findings.attempt(() => value?.readEntries('modelParameters'));
    const knownEntries: YamlEntry[] = [];
    for (const entry of entries ?? []) {
      if (SUPPORTED_PARAMETERS.has(entry.key)) {
        knownEntries.push(entry);
      } else {
        this.#findings.addNote(entry, `the parameter \`${entry.key}\` is unknown: it is not sent`);
      }
    }

    const parameters = knownEntries.map(({ key, value, ...place }) => ({
      key: Object.hasOwn(RENAMED_PARAMETERS, key) ? (RENAMED_PARAMETERS[key] ?? key) : key,
      value: this.#findings.attempt(() => value.toJson()) ?? null,
      place,
    }));
    for (const { key, value, place } of parameters) checkOption(key, value, place, this.#findings);
    return parameters;
  }

  #readMessages(): Piece[] {
    const entry = this.#entries.get('messages');
    const items = this.#findings.attempt(() => entry?.value.readItems('messages') ?? []) ?? [];
    const hasListFault = this.#findings.hasFaultAt(entry?.value ?? this.#root);
    if (items.length === 0 && !hasListFault) {
      this.#findings.addFault(entry ?? this.#root, '`messages` must be a list with a message');
    }

    const pieces = items.flatMap(
      item => this.#findings.attempt(() => this.#readMessage(item)) ?? [],
    );
    const textBytes = pieces.reduce(
      (sum, piece) => sum + ('text' in piece ? Buffer.byteLength(piece.text) : 0),
      0,
    );
    if (textBytes > BOUNDS.fileBytes && entry) {
      this.#findings.addFault(entry, `the messages are larger than ${BOUNDS.fileBytes / 1024} KiB`);
    }

    return pieces;
  }

  #readMessage(item: YamlValue): Piece[] {
    const entries = item.readEntries('a message');
    const findValue = (name: string): YamlValue | undefined =>
      entries.find(({ key }) => key === name)?.value;

    for (const unknownEntry of entries) {
      if (unknownEntry.key !== 'role' && unknownEntry.key !== 'content') {
        this.#findings.addNote(unknownEntry, `\`${unknownEntry.key}\` of a message has no effect`);
      }
    }

    const [role, content] = [findValue('role'), findValue('content')];
    const chatRole = findChatRole(this.#readText(role, 'role'));
    if (chatRole === undefined) {
      this.#findings.addFault(
        role ?? item,
        'the `role` of a message must be system, user or assistant',
      );
    }

    if (!content) this.#findings.addFault(item, 'a message needs `content`');
    const text = content?.isEmpty === false ? content.readStorableText('content') : '';
    return [{ tag: `{{role "${chatRole ?? 'user'}"}}` }, ...splitAtInputs(text)];
  }

  /** Reads `responseFormat`, and `jsonSchema` if it asks for one. */
  #readOutput(): JsonObject {
    const formatNode = this.#entries.get('responseFormat')?.value;
    const name = this.#readText(formatNode, 'responseFormat');
    if (!formatNode || name === undefined || name === 'text') return {};
    if (name === 'json_object') return { output: { format: 'json' } };
    if (name === 'json_schema') return this.#readJsonSchema(formatNode);

    this.#findings.addFault(
      formatNode,
      `\`responseFormat\` is text, json_object or json_schema, not \`${name}\``,
    );
    return {};
  }

  /** Reads `jsonSchema`: a map of `name`, `strict` and `schema`, or its JSON as text. */
  #readJsonSchema(formatNode: YamlValue): JsonObject {
    const schemaNode = this.#entries.get('jsonSchema')?.value;
    const value = this.#findings.attempt(() => schemaNode?.toJson());

    const schema = typeof value === 'string' ? parseJson(value) : value;
    if (!isJsonObject(schema)) {
      this.#findings.addFault(
        schemaNode ?? formatNode,
        '`jsonSchema` must be a JSON Schema, as JSON or YAML',
      );
      return {};
    }

    const innerSchema = findOwnValue(schema, 'schema');
    const namedFields = ['name', 'description', 'strict'].flatMap(key => {
      const field = findOwnValue(schema, key);
      return field === undefined || field === null ? [] : [[key, field] as const];
    });
    if (innerSchema === undefined || namedFields.length === 0) {
      return { output: { format: 'json', schema: innerSchema ?? schema } };
    }

    return {
      output: { format: 'json', schema: innerSchema, named: Object.fromEntries(namedFields) },
    };
  }
}
