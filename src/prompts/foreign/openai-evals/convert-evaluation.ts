import { faultAt } from '../../../files/formats/file-fault.ts';
import {
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
} from '../../../files/formats/json.ts';
import { parseYaml, type YamlValue } from '../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { formatNumber } from '../../../utils/grouped-digits.ts';
import { BOUNDS } from '../../bounds.ts';
import type { Findings } from '../../findings.ts';
import type { ConvertOptions } from '../convert-options.ts';
import { buildTestFile, formatPromptFile, type TestCaseText, withEndMark } from '../file-texts.ts';
import { formatCaseName } from '../foreign-tests.ts';
import { findChatRole, listInputs, type Piece } from '../template-pieces.ts';
import { type EvaluationRow, getRowText, readEvaluationRows } from './evaluation-rows.ts';
import { type Criterion, readCriterion } from './read-criterion.ts';
import { addOpenaiProvider, readMessages } from './read-messages.ts';
import { isReference, splitAtReferences, type TextPart } from './row-references.ts';

/** The name of this format, with its article. */
export const OPENAI_EVALS = "an evaluation of OpenAI's Evals";

/**
 * Returns true if a document defines an evaluation, as `POST /v1/evals` takes it and
 * `GET /v1/evals/…` returns it.
 */
export function isEvaluation(whole: JsonValue): boolean {
  return (
    isJsonList(findOwnValue(whole, 'testing_criteria')) &&
    isJsonObject(findOwnValue(whole, 'data_source_config'))
  );
}

/** Converts the definition of an evaluation, with its rows, to a prompt file and a test file. */
export function convertEvaluation(
  { file, text }: { readonly file: string; readonly text: string },
  findings: Findings,
  { items: source }: Pick<ConvertOptions, 'items'>,
): { readonly prompt: string; readonly test: JsonObject | undefined } | undefined {
  return findings.attempt(() => {
    const root = parseYaml(text, 1, file);
    const entries = root.valuesByKey(OPENAI_EVALS);
    const rows = source ? readEvaluationRows(source) : [];
    const listedCriteria = entries.get('testing_criteria')?.items('testing_criteria') ?? [];
    const criteria = listedCriteria.flatMap(criterion => readCriterion(criterion, findings) ?? []);
    if (rows.length * Math.max(1, criteria.length) > BOUNDS.checks) {
      throw faultAt(
        root,
        `its rows and criteria make more than ${formatNumber(BOUNDS.checks)} checks`,
      );
    }

    const run = readEvaluationRun(root.json());
    const body =
      readMessagePieces(run.messages, root.at(`${run.pointer}/input_messages`)) ??
      buildFieldsPrompt(listRowFields(root.json(), rows), listedCriteria, root);
    const schemas = collectNestedSchemas(body);
    const nestedNames = Object.keys(schemas);
    const head = buildFrontMatter(entries.get('name')?.scalar, run);

    const prompt = formatPromptFile(head, withEndMark(body), { used: nestedNames, schemas });
    if (rows.length === 0) {
      const what =
        criteria.length > 0 ? 'its criteria become tests only with their rows' : 'it has no rows';
      findings.addNote(root, `${what}: --items <file> names them`);
      return { prompt, test: undefined };
    }

    const names = [...new Set([...listInputs(body), ...nestedNames])];
    const cases = rows.map((row, index) =>
      convertRow(row, index + 1, { names, criteria, source, findings }),
    );
    return { prompt, test: buildTestFile({ cases }) };
  });
}

/** Returns the front matter of the prompt file. */
function buildFrontMatter(name: string | undefined, { model, config }: EvaluationRun): JsonObject {
  return {
    ...(name !== undefined && { title: name }),
    ...(model !== undefined && { model: addOpenaiProvider(model) }),
    ...(Object.keys(config).length > 0 && { config }),
  };
}

/** The parts of a run's data source that a prompt file holds. */
interface EvaluationRun {
  readonly messages: JsonValue | undefined;
  /** The JSON Pointer of the data source that has the messages. */
  readonly pointer: string;
  readonly model: string | undefined;
  readonly config: JsonObject;
}

const EVAL_SETTINGS: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  max_completion_tokens: 'maxOutputTokens',
  max_completions_tokens: 'maxOutputTokens',
  seed: 'seed',
  reasoning_effort: 'reasoningEffort',
};

const RUN_POINTERS = ['', '/data_source', '/run/data_source', '/data_source_config'];

function resolvePointer(whole: JsonValue, pointer: string): JsonValue | undefined {
  return pointer.split('/').slice(1).reduce<JsonValue | undefined>(findOwnValue, whole);
}

/** Returns the run of a definition, which is in the definition itself or in its data source. */
function readEvaluationRun(evaluation: JsonValue): EvaluationRun {
  const sources = RUN_POINTERS.map(pointer => ({
    pointer,
    source: resolvePointer(evaluation, pointer),
  }));
  const sourceWith = (key: string) =>
    sources.find(({ source }) => (findOwnValue(source, key) ?? null) !== null) ?? {
      pointer: '',
      source: undefined,
    };

  const findFirstValue = (key: string): JsonValue | undefined =>
    findOwnValue(sourceWith(key).source, key);
  const [model, sampling] = [findFirstValue('model'), findFirstValue('sampling_params')];
  const config = Object.entries(isJsonObject(sampling) ? sampling : {}).flatMap(([key, value]) => {
    const ours = findOwnValue(EVAL_SETTINGS, key);
    return typeof ours === 'string' && value !== null ? [[ours, value] as const] : [];
  });

  return {
    messages: findFirstValue('input_messages'),
    pointer: sourceWith('input_messages').pointer,
    model: typeof model === 'string' ? model : undefined,
    config: Object.fromEntries(config),
  };
}

function readMessagePieces(value: JsonValue | undefined, at: YamlValue): Piece[] | undefined {
  return readMessages(value, at)?.flatMap(({ role, text }) => {
    const name = findChatRole(role);
    if (name === undefined) {
      throw faultAt(
        at,
        `the role of a message is system, developer, user or assistant, not \`${role}\``,
      );
    }
    return [{ tag: `{{role "${name}"}}` }, ...splitAtReferences(text).map(toReferencePiece)];
  });
}

function toReferencePiece(part: TextPart): Piece {
  if ('text' in part) return part;
  // A prompt has no answer to refer to.
  if (part.of === 'sample') return { text: `{{sample.${part.path.join('.')}}}` };
  const [field = '', ...rest] = part.path;
  return rest.length === 0
    ? { input: field }
    : { tag: `{{this.${part.path.map(step => `[${step}]`).join('.')}}}` };
}

/** Returns the schemas of the inputs that the body uses only in part. */
function collectNestedSchemas(body: readonly Piece[]): Record<string, JsonObject> {
  const parts = body.flatMap(piece => {
    const [, field, step = ''] = ('tag' in piece && NESTED_TAG.exec(piece.tag)) || [];
    return field === undefined
      ? []
      : [[field, { type: /^\d+$/u.test(step) ? 'array' : 'object' }] as const];
  });
  return Object.fromEntries(parts);
}

const NESTED_TAG = /^\{\{this\.\[([^\]]+)\]\.\[([^\]]+)\]/u;

/** Returns the fields of a row: those of its schema, or else of the rows themselves. */
function listRowFields(whole: JsonValue, rows: readonly EvaluationRow[]): string[] {
  const config = findOwnValue(whole, 'data_source_config');
  const schema = findOwnValue(config, 'item_schema') ?? findOwnValue(config, 'schema');
  const properties = findOwnValue(
    findOwnValue(findOwnValue(schema, 'properties'), 'item') ?? schema,
    'properties',
  );
  const propertyNames = isJsonObject(properties) ? Object.keys(properties) : [];

  return propertyNames.length > 0
    ? propertyNames
    : [...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))];
}

/**
 * Returns a prompt that asks for the fields of a row. A reference answer must not be shown to the
 * model.
 */
function buildFieldsPrompt(
  fields: readonly string[],
  criteria: readonly YamlValue[],
  at: YamlValue,
): Piece[] {
  const references = criteria.flatMap(criterion => {
    const reference = findOwnValue(criterion.json(), 'reference');
    return typeof reference === 'string' ? splitAtReferences(reference) : [];
  });
  const hiddenFields = new Set(
    references.flatMap(part => (isReference(part, 'item') ? (part.path[0] ?? []) : [])),
  );
  const shownFields = fields.filter(field => !hiddenFields.has(field));
  if (shownFields.length === 0) {
    throw faultAt(
      at,
      'its rows have no field to ask for, and it has no `input_messages`: write the prompt by hand',
    );
  }

  const lines = shownFields.flatMap((field, index): Piece[] => [
    ...(index > 0 ? [{ text: '\n' }] : []),
    ...(shownFields.length > 1 ? [{ text: `${field}: ` }] : []),
    { input: field },
  ]);
  return [{ tag: '{{role "user"}}' }, ...lines];
}

function convertRow(
  row: EvaluationRow,
  number: number,
  {
    names,
    criteria,
    source,
    findings,
  }: {
    readonly names: readonly string[];
    readonly criteria: readonly Criterion[];
    readonly source: ConvertOptions['items'];
    readonly findings: Findings;
  },
): TestCaseText {
  const missingNames = names.filter(name => !Object.hasOwn(row.fields, name));
  for (const name of missingNames) {
    findings.addNote(
      { line: row.line, column: 1 },
      `this row has no \`${name}\`: it is empty`,
      source?.file,
    );
  }

  const inputs = Object.fromEntries(names.map(name => [name, getRowText(row, [name])]));
  const seenPaths = criteria
    .flatMap(({ placeholders }) => [...placeholders])
    .filter(([name]) => !names.includes(name));

  return {
    name: formatCaseName(number, Object.values(inputs)[0] ?? ''),
    inputs,
    vars: Object.fromEntries(seenPaths.map(([name, path]) => [name, getRowText(row, path)])),
    expect: criteria
      .map(({ expect }) => expect(row))
      .filter(expectation => expectation !== undefined),
  };
}
