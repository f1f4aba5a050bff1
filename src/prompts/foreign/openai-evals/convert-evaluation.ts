import { faultAt } from '../../../files/formats/file-fault.ts';
import {
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
  withoutUndefined,
} from '../../../files/formats/json.ts';
import { parseYaml, type YamlValue } from '../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { formatNumber } from '../../../utils/format-number.ts';
import { BOUNDS } from '../../bounds.ts';
import type { Findings } from '../../findings.ts';
import type { ConvertOptions } from '../convert-options.ts';
import type { ConvertedPrompt } from '../converted-prompt.ts';
import { buildTestFile, formatPromptFile, type TestFileCase, withEndMark } from '../file-texts.ts';
import { formatCaseName } from '../foreign-tests.ts';
import { findChatRole, listInputs, type Piece } from '../template-pieces.ts';
import type { Criterion } from './criterion.ts';
import { type EvaluationRow, getRowText, readEvaluationRows } from './evaluation-rows.ts';
import { readCriterion } from './read-criterion.ts';
import { qualifyOpenaiModel, readMessages } from './read-messages.ts';
import { isReference, splitAtReferences, type TextPart } from './row-references.ts';

/** The name of this format, with its article. */
export const OPENAI_EVALS = "an evaluation of OpenAI's Evals";

/** Our names of the sampling parameters. */
const SETTING_NAMES: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  max_completion_tokens: 'maxOutputTokens',
  // OpenAI's reference spells it so.
  max_completions_tokens: 'maxOutputTokens',
  seed: 'seed',
  reasoning_effort: 'reasoningEffort',
};

/** JSON Pointers of the places where a definition may have its run, in order of precedence. */
const RUN_POINTERS = ['', '/data_source', '/run/data_source', '/data_source_config'];

/** Matches a tag for a part of a field. */
const NESTED_TAG = /^\{\{this\.\[(?<field>[^\]]+)\]\.\[(?<step>[^\]]+)\]/u;

/**
 * Returns true if a document defines an evaluation, as `POST /v1/evals` takes it and
 * `GET /v1/evals/…` returns it.
 */
export function isEvaluation(document: JsonValue): boolean {
  return (
    isJsonList(findOwnValue(document, 'testing_criteria')) &&
    isJsonObject(findOwnValue(document, 'data_source_config'))
  );
}

type ConvertedEvaluation = Pick<ConvertedPrompt, 'promptText' | 'testContent'>;

/** Converts the definition of an evaluation, with its rows, to a prompt file and a test file. */
export function convertEvaluation(
  { file, text }: { readonly file: string; readonly text: string },
  findings: Findings,
  { rowsFile }: Pick<ConvertOptions, 'rowsFile'>,
): ConvertedEvaluation | undefined {
  return findings.attempt(() => convertDefinition(parseYaml(text, 1, file), rowsFile, findings));
}

/** @throws {FileFault} if the evaluation has no equivalent */
function convertDefinition(
  root: YamlValue,
  rowsFile: ConvertOptions['rowsFile'],
  findings: Findings,
): ConvertedEvaluation {
  const entries = root.readValuesByKey(OPENAI_EVALS);
  const rows = rowsFile ? readEvaluationRows(rowsFile) : [];
  const criterionNodes = entries.get('testing_criteria')?.readItems('testing_criteria') ?? [];
  const criteria = criterionNodes
    .map(node => readCriterion(node, findings))
    .filter(criterion => criterion !== undefined);
  requireAllowedCheckCount(rows, criteria, root);

  const evaluation = root.toJson();
  const run = readEvaluationRun(evaluation);
  const body =
    readMessagePieces(run.messages, root.findAt(`${run.pointer}/input_messages`)) ??
    buildFieldsPrompt(listRowFields(evaluation, rows), criterionNodes, root);
  const schemas = collectNestedSchemas(body);
  const nestedNames = Object.keys(schemas);
  const frontMatter = buildEvaluationFrontMatter(entries.get('name')?.scalar, run);

  const promptText = formatPromptFile(frontMatter, withEndMark(body), {
    usedInTags: nestedNames,
    schemas,
  });

  if (rows.length === 0) {
    addMissingRowsNote(criteria, root, findings);
    return { promptText, testContent: undefined };
  }

  const inputNames = [...new Set([...listInputs(body), ...nestedNames])];
  const cases = rows.map((row, index) =>
    convertRow(row, index + 1, {
      inputNames,
      criteria,
      rowsFile: rowsFile?.file,
      findings,
    }),
  );
  return { promptText, testContent: buildTestFile({ cases }) };
}

/** @throws {FileFault} if the rows and criteria make too many checks */
function requireAllowedCheckCount(
  rows: readonly EvaluationRow[],
  criteria: readonly Criterion[],
  root: YamlValue,
): void {
  if (rows.length * Math.max(1, criteria.length) <= BOUNDS.checks) return;

  throw faultAt(root, `its rows and criteria make more than ${formatNumber(BOUNDS.checks)} checks`);
}

function addMissingRowsNote(
  criteria: readonly Criterion[],
  root: YamlValue,
  findings: Findings,
): void {
  const reason =
    criteria.length > 0 ? 'its criteria become tests only with their rows' : 'it has no rows';
  findings.addNote(root, `${reason}: --items <file> names them`);
}

/** Returns the front matter of the prompt file. */
function buildEvaluationFrontMatter(
  name: string | undefined,
  { model, config }: EvaluationRun,
): JsonObject {
  return withoutUndefined({
    title: name,
    model: model === undefined ? undefined : qualifyOpenaiModel(model),
    config: Object.keys(config).length > 0 ? config : undefined,
  });
}

/** The parts of a run's data source that a prompt file holds. */
interface EvaluationRun {
  readonly messages: JsonValue | undefined;
  /** The JSON Pointer of the data source that has the messages. */
  readonly pointer: string;
  readonly model: string | undefined;
  readonly config: JsonObject;
}

/** Reads the run of a definition, which is in the definition itself or in its data source. */
function readEvaluationRun(evaluation: JsonValue): EvaluationRun {
  const sources = RUN_POINTERS.map(pointer => ({
    pointer,
    value: resolvePointer(evaluation, pointer),
  }));
  const findField = (key: string): { value: JsonValue | undefined; pointer: string } => {
    const source = sources.find(({ value }) => (findOwnValue(value, key) ?? null) !== null);
    return { value: findOwnValue(source?.value, key), pointer: source?.pointer ?? '' };
  };

  const messages = findField('input_messages');
  const model = findField('model').value;

  return {
    messages: messages.value,
    pointer: messages.pointer,
    model: typeof model === 'string' ? model : undefined,
    config: convertSamplingParams(findField('sampling_params').value),
  };
}

function resolvePointer(document: JsonValue, pointer: string): JsonValue | undefined {
  return pointer.split('/').slice(1).reduce<JsonValue | undefined>(findOwnValue, document);
}

/** Returns the config of sampling parameters; those without an equivalent are left out. */
function convertSamplingParams(params: JsonValue | undefined): JsonObject {
  const config: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(isJsonObject(params) ? params : {})) {
    const settingName = findOwnValue(SETTING_NAMES, key);
    if (typeof settingName === 'string' && value !== null) config[settingName] = value;
  }
  return config;
}

function readMessagePieces(value: JsonValue | undefined, node: YamlValue): Piece[] | undefined {
  return readMessages(value, node)?.flatMap(({ role, text }) => {
    const chatRole = findChatRole(role);
    if (chatRole === undefined) {
      throw faultAt(
        node,
        `the role of a message is system, developer, user or assistant, not \`${role}\``,
      );
    }

    return [{ tag: `{{role "${chatRole}"}}` }, ...splitAtReferences(text).map(toReferencePiece)];
  });
}

function toReferencePiece(part: TextPart): Piece {
  if ('text' in part) return part;
  // A prompt has no answer to refer to.
  if (part.source === 'sample') return { text: `{{sample.${part.path.join('.')}}}` };

  const [field = ''] = part.path;
  if (part.path.length <= 1) return { input: field };
  return { tag: `{{this.${part.path.map(step => `[${step}]`).join('.')}}}` };
}

/** Returns the schemas of the inputs that the body uses only in part. */
function collectNestedSchemas(body: readonly Piece[]): Record<string, JsonObject> {
  const schemas = new Map<string, JsonObject>();
  for (const piece of body) {
    if (!('tag' in piece)) continue;

    const { field, step = '' } = NESTED_TAG.exec(piece.tag)?.groups ?? {};
    const type = /^\d+$/u.test(step) ? 'array' : 'object';
    if (field !== undefined) schemas.set(field, { type });
  }
  return Object.fromEntries(schemas);
}

/** Returns the names of the fields in the rows' schema, or else in the rows themselves. */
function listRowFields(evaluation: JsonValue, rows: readonly EvaluationRow[]): string[] {
  const config = findOwnValue(evaluation, 'data_source_config');
  const schema = findOwnValue(config, 'item_schema') ?? findOwnValue(config, 'schema');
  const itemSchema = findOwnValue(findOwnValue(schema, 'properties'), 'item') ?? schema;
  const properties = findOwnValue(itemSchema, 'properties');
  const propertyNames = isJsonObject(properties) ? Object.keys(properties) : [];
  if (propertyNames.length > 0) return propertyNames;

  return [...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))];
}

/** Returns a prompt with the fields of a row, without those that give the answer away. */
function buildFieldsPrompt(
  fields: readonly string[],
  criterionNodes: readonly YamlValue[],
  root: YamlValue,
): Piece[] {
  const answerFields = listAnswerFields(criterionNodes);
  const shownFields = fields.filter(field => !answerFields.has(field));
  if (shownFields.length === 0) {
    throw faultAt(
      root,
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

/** Returns the names of the fields that reference answers use. */
function listAnswerFields(criterionNodes: readonly YamlValue[]): ReadonlySet<string | undefined> {
  const parts = criterionNodes.flatMap(node => {
    const reference = findOwnValue(node.toJson(), 'reference');
    return typeof reference === 'string' ? splitAtReferences(reference) : [];
  });
  return new Set(parts.filter(part => isReference(part, 'item')).map(({ path }) => path[0]));
}

interface RowContext {
  /** The names of the prompt's inputs. */
  readonly inputNames: readonly string[];
  readonly criteria: readonly Criterion[];
  readonly rowsFile: string | undefined;
  readonly findings: Findings;
}

/** Returns the case for a row, and adds a note for each input that the row lacks. */
function convertRow(
  row: EvaluationRow,
  number: number,
  { inputNames, criteria, rowsFile, findings }: RowContext,
): TestFileCase {
  for (const name of inputNames) {
    if (Object.hasOwn(row.fields, name)) continue;
    findings.addNote(
      { line: row.line, column: 1 },
      `this row has no \`${name}\`: it is empty`,
      rowsFile,
    );
  }

  const inputs = Object.fromEntries(inputNames.map(name => [name, getRowText(row, [name])]));
  const otherPlaceholders = criteria
    .flatMap(({ placeholders }) => [...placeholders])
    .filter(([name]) => !inputNames.includes(name));

  return {
    name: formatCaseName(number, Object.values(inputs)[0] ?? ''),
    inputs,
    vars: Object.fromEntries(
      otherPlaceholders.map(([name, path]) => [name, getRowText(row, path)]),
    ),
    expect: criteria
      .map(criterion => criterion.buildExpectation(row))
      .filter(expectation => expectation !== undefined),
  };
}
