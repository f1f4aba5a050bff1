import { faultAt } from '../../files/file-fault.ts';
import {
  isJsonList,
  type JsonObject,
  type JsonValue,
  ownValue,
  readJson,
  textOrNothing,
} from '../../files/json.ts';
import { parseYaml, type YamlValue } from '../../files/yaml.ts';
import { isJsonObject } from '../../wire/bounded-json.ts';
import { BOUNDS } from '../bounds.ts';
import { type Findings, InvalidPromptFile } from '../findings.ts';
import {
  type ConvertOptions,
  JUDGED,
  promptFileText,
  type TestCaseText,
  testFileText,
  withEndMark,
} from './converted.ts';
import { caseName } from './foreign-tests.ts';
import { PYTHON } from './python.ts';
import { chatRole, inputsIn, type Piece } from './template-pieces.ts';

/** The name of this format, with its article. */
export const OPENAI_EVALS = "an evaluation of OpenAI's Evals";

/** Returns true if a document defines an evaluation, as `POST /v1/evals` takes it and `GET /v1/evals/…` returns it. */
export function isEvaluation(whole: JsonValue): boolean {
  return (
    isJsonList(ownValue(whole, 'testing_criteria')) && isJsonObject(ownValue(whole, 'data_source_config'))
  );
}

/** A reference to the row (`item`) or to the answer (`sample`), with its path. */
interface Reference {
  readonly of: 'item' | 'sample';
  readonly path: readonly string[];
}

type TextPart = { readonly text: string } | Reference;

const REFERENCE = /\{\{\s*(?<of>item|sample)(?<path>(?:\.[\p{L}\p{N}_-]+)+)\s*\}\}/gu;

/** Splits a text at its references. Other braces are text. */
function splitAtReferences(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const { 0: found, index, groups } of text.matchAll(REFERENCE)) {
    const path = (groups?.['path'] ?? '').slice(1).split('.');
    parts.push({ text: text.slice(at, index) }, { of: groups?.['of'] === 'item' ? 'item' : 'sample', path });
    at = index + found.length;
  }
  return [...parts, { text: text.slice(at) }].filter(part => !('text' in part) || part.text !== '');
}

function isReference(part: TextPart, of: Reference['of']): part is Reference {
  return 'of' in part && part.of === of;
}

/** A row with its fields. */
interface EvaluationRow {
  readonly line: number;
  readonly fields: JsonObject;
}

function rowText({ fields }: EvaluationRow, path: readonly string[]): string {
  return textOrNothing(path.reduce<JsonValue | undefined>(ownValue, fields));
}

/** Returns a text with the fields of a row; `answer` replaces references to the answer. */
function fillReferences(parts: readonly TextPart[], item: EvaluationRow, answer: string): string {
  return parts
    .map(part => ('text' in part ? part.text : part.of === 'item' ? rowText(item, part.path) : answer))
    .join('');
}

/** Converts the definition of an evaluation, with its rows, to a prompt file and a test file. */
export function convertEvaluation(
  { file, text }: { readonly file: string; readonly text: string },
  findings: Findings,
  { items: source }: Pick<ConvertOptions, 'items'>,
): { readonly prompt: string; readonly test: string | undefined } | undefined {
  return findings.attempt(() => {
    const root = parseYaml(text, 1, file);
    const entries = root.valuesByKey(OPENAI_EVALS);
    const items = source ? readEvaluationRows(source) : [];
    const listed = entries.get('testing_criteria')?.items('testing_criteria') ?? [];
    const criteria = listed.flatMap(one => readCriterion(one, findings) ?? []);
    if (items.length * Math.max(1, criteria.length) > BOUNDS.checks) {
      throw faultAt(
        root,
        `its rows and criteria make more than ${BOUNDS.checks.toLocaleString('en-US')} checks`,
      );
    }
    const run = readEvaluationRun(root.json());
    const body =
      messagePieces(run.messages, root) ?? promptForFields(rowFields(root.json(), items), listed, root);
    const names = [...new Set([...inputsIn(body), ...nestedInputs(body)])];
    const name = entries.get('name')?.scalar;
    const head: JsonObject = {
      ...(name !== undefined && { title: name }),
      ...(run.model !== undefined && { model: qualifiedModel(run.model) }),
      ...(Object.keys(run.config).length > 0 && { config: run.config }),
    };
    const schemas = Object.fromEntries(nestedInputs(body).map(field => [field, { type: 'object' }]));
    const prompt = promptFileText(head, withEndMark(body), { used: nestedInputs(body), schemas });
    if (items.length === 0) {
      const what = criteria.length > 0 ? 'its criteria become tests only with their rows' : 'it has no rows';
      findings.note(root, `${what}: --items <file> names them`);
      return { prompt, test: undefined };
    }
    const cases = items.map((item, at) => caseOfRow(item, at + 1, { names, criteria, source, findings }));
    return { prompt, test: testFileText({ cases }) };
  });
}

/** Reads rows, one JSON object per line; one with `item` is unwrapped. @throws {InvalidPromptFile} with file and line */
function readEvaluationRows({
  file,
  text,
}: {
  readonly file: string;
  readonly text: string;
}): EvaluationRow[] {
  const lines = text.replace(/^\uFEFF/u, '').split('\n');
  const items = lines.flatMap((line, at): EvaluationRow[] => {
    if (line.trim() === '') return [];
    const read = readJson(line);
    if ('fault' in read) throw new InvalidPromptFile(file, at + 1, `this row ${read.fault}`);
    const fields = ownValue(read.value, 'item') ?? read.value;
    if (!isJsonObject(fields)) throw new InvalidPromptFile(file, at + 1, 'a row must be a JSON object');
    return [{ line: at + 1, fields }];
  });
  if (items.length === 0) throw new InvalidPromptFile(file, 1, 'it has no rows');
  if (items.length > BOUNDS.cases) {
    throw new InvalidPromptFile(file, 1, `it has more than ${BOUNDS.cases.toLocaleString('en-US')} rows`);
  }
  return items;
}

/** The parts of a run's data source that a prompt file holds. */
interface EvaluationRun {
  readonly messages: JsonValue | undefined;
  readonly model: string | undefined;
  readonly config: JsonObject;
}

const SETTINGS: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  max_completion_tokens: 'maxOutputTokens',
  max_completions_tokens: 'maxOutputTokens',
  seed: 'seed',
  reasoning_effort: 'reasoningEffort',
};

/** Returns the run of a definition, which stands in the definition itself or in its data source. */
function readEvaluationRun(whole: JsonValue): EvaluationRun {
  const places = [
    whole,
    ownValue(whole, 'data_source'),
    ownValue(ownValue(whole, 'run'), 'data_source'),
    ownValue(whole, 'data_source_config'),
  ];
  const first = (key: string): JsonValue | undefined =>
    places.map(place => ownValue(place, key)).find(value => value !== undefined && value !== null);
  const [model, sampling] = [first('model'), first('sampling_params')];
  const config = Object.entries(isJsonObject(sampling) ? sampling : {}).flatMap(([key, value]) => {
    const ours = ownValue(SETTINGS, key);
    return typeof ours === 'string' && value !== null ? [[ours, value] as const] : [];
  });
  return {
    messages: first('input_messages'),
    model: typeof model === 'string' ? model : undefined,
    config: Object.fromEntries(config),
  };
}

/** Returns a model's name with its provider. */
function qualifiedModel(name: string): string {
  return name.includes('/') ? name : `openai/${name}`;
}

/** A message with its text. */
interface TextMessage {
  readonly role: string;
  readonly text: string;
}

/** Returns the messages of a list or a template; undefined if there are none. @throws {FileFault} if one is not text */
function readMessages(value: JsonValue | undefined, at: YamlValue): TextMessage[] | undefined {
  const listed = ownValue(value, 'template') ?? value;
  if (listed === undefined || listed === null) return undefined;
  if (!isJsonList(listed)) {
    throw faultAt(at, '`input_messages` must be a list of messages, or a template with one');
  }
  return listed.map(message => {
    const [role, content] = [ownValue(message, 'role'), ownValue(message, 'content')];
    const texts = (isJsonList(content) ? content : [content]).map(part =>
      typeof part === 'string' ? part : ownValue(part, 'text'),
    );
    if (typeof role !== 'string' || !texts.every(text => typeof text === 'string')) {
      throw faultAt(at, 'a message needs a `role`, and `content` that is text');
    }
    return { role, text: texts.join('\n') };
  });
}

function messagePieces(value: JsonValue | undefined, at: YamlValue): Piece[] | undefined {
  return readMessages(value, at)?.flatMap(({ role, text }) => {
    const name = chatRole(role === 'developer' ? 'system' : role);
    if (name === undefined) {
      throw faultAt(at, `the role of a message is system, developer, user or assistant, not \`${role}\``);
    }
    return [{ tag: `{{role "${name}"}}` }, ...splitAtReferences(text).map(referencePiece)];
  });
}

function referencePiece(part: TextPart): Piece {
  if ('text' in part) return part;
  // A prompt has no answer to refer to.
  if (part.of === 'sample') return { text: `{{sample.${part.path.join('.')}}}` };
  const [field = '', ...rest] = part.path;
  return rest.length === 0
    ? { input: field }
    : { tag: `{{this.${part.path.map(step => `[${step}]`).join('.')}}}` };
}

/** Returns the inputs of which the body uses only parts. */
function nestedInputs(body: readonly Piece[]): string[] {
  return body.flatMap(piece =>
    'tag' in piece ? (/^\{\{this\.\[([^\]]+)\]\.\[/u.exec(piece.tag)?.[1] ?? []) : [],
  );
}

/** Returns the fields of a row: those of its schema, or else of the rows themselves. */
function rowFields(whole: JsonValue, items: readonly EvaluationRow[]): string[] {
  const config = ownValue(whole, 'data_source_config');
  const schema = ownValue(config, 'item_schema') ?? ownValue(config, 'schema');
  const properties = ownValue(ownValue(ownValue(schema, 'properties'), 'item') ?? schema, 'properties');
  const named = isJsonObject(properties) ? Object.keys(properties) : [];
  return named.length > 0 ? named : [...new Set(items.flatMap(({ fields }) => Object.keys(fields)))];
}

/** Returns a prompt that asks for the fields of a row. A reference answer must not be shown to the model. */
function promptForFields(fields: readonly string[], criteria: readonly YamlValue[], at: YamlValue): Piece[] {
  const references = criteria.flatMap(one => {
    const reference = ownValue(one.json(), 'reference');
    return typeof reference === 'string' ? splitAtReferences(reference) : [];
  });
  const hidden = new Set(references.flatMap(part => (isReference(part, 'item') ? (part.path[0] ?? []) : [])));
  const shown = fields.filter(field => !hidden.has(field));
  if (shown.length === 0) {
    throw faultAt(
      at,
      'its rows have no field to ask for, and it has no `input_messages`: write the prompt by hand',
    );
  }
  const lines = shown.flatMap((field, index): Piece[] => [
    ...(index > 0 ? [{ text: '\n' }] : []),
    ...(shown.length > 1 ? [{ text: `${field}: ` }] : []),
    { input: field },
  ]);
  return [{ tag: '{{role "user"}}' }, ...lines];
}

/** A criterion that has an equivalent. */
interface Criterion {
  /** The fields that its expectation sees, by the name of their placeholder. */
  readonly placeholders: ReadonlyMap<string, readonly string[]>;
  /** Returns the expectation for a row; undefined if it would check nothing. */
  readonly expect: (item: EvaluationRow) => JsonObject | undefined;
}

type ReadCriterion = (
  entries: ReadonlyMap<string, YamlValue>,
  note: (what: string) => void,
) => Criterion | undefined;

const CRITERIA: { readonly [type: string]: ReadCriterion } = {
  string_check: readStringCheck,
  text_similarity: readTextSimilarity,
  label_model: readLabelModel,
  score_model: readScoreModel,
  python: readPythonGrader,
};

/** Reads a criterion; undefined with a note if it has no equivalent. */
function readCriterion(node: YamlValue, findings: Findings): Criterion | undefined {
  const entries = node.valuesByKey('a criterion');
  const type = entries.get('type')?.scalar ?? '';
  const name = entries.get('name')?.scalar ?? type;
  const note = (what: string): void => findings.note(node, `the criterion \`${name}\` ${what}`);
  const read = Object.hasOwn(CRITERIA, type) ? CRITERIA[type] : undefined;
  if (!read) note(`has no equivalent: \`${type}\` is left out`);
  return read?.(entries, note);
}

const IGNORES_ANSWER = 'checks the row and not the answer: it is left out';

/** The answer, or a part of it. */
type AnswerPart = Pick<Reference, 'path'>;

/** Returns what of the answer some texts are about; undefined with a note if it is none or several parts. */
function answerPartIn(parts: readonly TextPart[], note: (what: string) => void): AnswerPart | undefined {
  const samples = parts.filter(part => isReference(part, 'sample'));
  const [first] = samples;
  if (!first) {
    note(IGNORES_ANSWER);
  } else if (!samples.every(({ path }) => path.join('.') === first.path.join('.'))) {
    note('refers to several parts of the answer: it is left out');
  } else if (answerCode(first) === undefined) {
    note(`refers to \`sample.${first.path.join('.')}\`, which has no equivalent: it is left out`);
  } else {
    return first;
  }
  return undefined;
}

/** Returns JavaScript for the answer, or for a part of it; undefined if the part doesn't exist. */
function answerCode({ path: [kind, ...path] }: AnswerPart): string | undefined {
  if (kind === 'output_text' && path.length === 0) return 'output';
  if (kind !== 'output_json') return undefined;
  const value = `JSON.parse(output)${path.map(step => `?.[${JSON.stringify(step)}]`).join('')}`;
  return `(value => typeof value === 'string' ? value : JSON.stringify(value) ?? '')(${value})`;
}

/** Returns the transform that gives a part of the answer; nothing for the whole answer. */
function answerTransform(answer: AnswerPart): { readonly transform?: string } {
  const code = answerCode(answer) ?? 'output';
  return code === 'output' ? {} : { transform: code };
}

/** The operations of `string_check`, with JavaScript for texts that are composed. */
const OPERATIONS: {
  readonly [name: string]: {
    readonly expect: (text: string) => JsonObject;
    readonly code: (input: string, reference: string) => string;
  };
} = {
  eq: { expect: text => ({ equals: text }), code: (one, other) => `${one} === ${other}` },
  ne: { expect: text => ({ not: { equals: text } }), code: (one, other) => `${one} !== ${other}` },
  like: { expect: text => ({ contains: text }), code: (one, other) => `(${one}).includes(${other})` },
  ilike: {
    expect: text => ({ icontains: text }),
    code: (one, other) => `(${one}).toLowerCase().includes((${other}).toLowerCase())`,
  },
};

const NO_PLACEHOLDERS: ReadonlyMap<string, readonly string[]> = new Map();

function readStringCheck(...[entries, note]: Parameters<ReadCriterion>): Criterion | undefined {
  const [input, reference] = ['input', 'reference'].map(key =>
    splitAtReferences(entries.get(key)?.scalar ?? ''),
  );
  const name = entries.get('operation')?.scalar ?? '';
  const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  if (!operation || !input || !reference) {
    note(`has the operation \`${name}\`, which has no equivalent: there are eq, ne, like and ilike`);
    return undefined;
  }
  const answer = answerPartIn([...input, ...reference], note);
  if (!answer) return undefined;
  const [only] = input;
  const isWhole = input.length === 1 && only !== undefined && isReference(only, 'sample');
  if (!isWhole || reference.some(part => isReference(part, 'sample'))) {
    const code = (parts: readonly TextPart[], item: EvaluationRow): string =>
      parts
        .map(part =>
          'of' in part && part.of === 'sample'
            ? (answerCode(part) ?? '')
            : JSON.stringify('text' in part ? part.text : rowText(item, part.path)),
        )
        .join(' + ') || '""';
    const expect = (item: EvaluationRow) => ({
      javascript: operation.code(code(input, item), code(reference, item)),
    });
    return { placeholders: NO_PLACEHOLDERS, expect };
  }
  return {
    placeholders: NO_PLACEHOLDERS,
    expect: item => {
      const text = fillReferences(reference, item, '');
      // Every answer contains an empty text.
      if (text === '' && name.endsWith('like')) return undefined;
      return { ...operation.expect(text), ...answerTransform(answer) };
    },
  };
}

function readTextSimilarity(...[entries, note]: Parameters<ReadCriterion>): Criterion | undefined {
  const [input, reference] = ['input', 'reference'].map(key =>
    splitAtReferences(entries.get(key)?.scalar ?? ''),
  );
  const answer = answerPartIn(input ?? [], note);
  if (!answer) return undefined;
  const [metric, threshold] = ['evaluation_metric', 'pass_threshold'].map(
    key => entries.get(key)?.scalar ?? '',
  );
  note(`measures \`${metric} >= ${threshold}\`, which becomes a rubric, ${JUDGED}`);
  return {
    placeholders: NO_PLACEHOLDERS,
    expect: item => ({
      rubric: `says in substance the same as this reference:\n\n${fillReferences(reference ?? [], item, '')}`,
      ...answerTransform(answer),
    }),
  };
}

/** Returns the messages of a criterion that a model judges, and what of the answer they are about. */
function readQuestion(...[entries, note]: Parameters<ReadCriterion>) {
  const node = entries.get('input');
  const messages = node ? (readMessages(node.json(), node) ?? []) : [];
  const answer = answerPartIn(
    messages.flatMap(({ text }) => splitAtReferences(text)),
    note,
  );
  const model = entries.get('model')?.scalar;
  return answer && { messages, answer, model: model === undefined ? undefined : qualifiedModel(model) };
}

function readLabelModel(...[entries, note]: Parameters<ReadCriterion>): Criterion | undefined {
  const question = readQuestion(entries, note);
  if (!question) return undefined;
  const [labels, passing] = ['labels', 'passing_labels'].map(key =>
    (entries.get(key)?.items(key) ?? []).map(label => label.text(key)),
  );
  const { messages, answer, model } = question;
  const isSystem = ({ role }: TextMessage): boolean => role === 'system' || role === 'developer';
  const placeholders = new Map<string, readonly string[]>();
  const written = (some: readonly TextMessage[]): string =>
    some
      .flatMap(({ text }, at) => [...(at > 0 ? [{ text: '\n\n' }] : []), ...splitAtReferences(text)])
      .map(part => {
        if ('text' in part) return part.text;
        if (part.of === 'sample') return '{{completion}}';
        const path = part.path.join('.');
        const name = path === 'completion' ? 'item.completion' : path;
        placeholders.set(name, part.path);
        return `{{${name}}}`;
      })
      .join('');
  const [system, user] = [messages.filter(isSystem), messages.filter(one => !isSystem(one))].map(written);
  const ask = `Answer with one of these labels, and nothing else: ${(labels ?? []).join(', ')}`;
  const llm = {
    prompt: [user === '' ? system : user, ask].join('\n\n'),
    ...(user !== '' && system !== '' && { systemPrompt: system ?? '' }),
    ...(model !== undefined && { model }),
    // A label that is part of another comes after it: the first one in the model's answer decides.
    choices: (labels ?? [])
      .toSorted((one, other) => other.length - one.length)
      .map(label => ({ choice: label, score: passing?.includes(label) ? 1 : 0 })),
  };
  if (llm.choices.length === 0) {
    note('has no `labels`: it is left out');
    return undefined;
  }
  return { placeholders, expect: () => ({ llm, ...answerTransform(answer) }) };
}

function readScoreModel(...[entries, note]: Parameters<ReadCriterion>): Criterion | undefined {
  const question = readQuestion(entries, note);
  if (!question) return undefined;
  const range = entries.get('range')?.json();
  const [lowest, highest] = isJsonList(range) ? range : [0, 1];
  const written = entries.get('pass_threshold')?.json();
  if (typeof lowest !== 'number' || typeof highest !== 'number' || lowest >= highest) {
    note('has a `range` that is not two numbers: it is left out');
    return undefined;
  }
  if (typeof written !== 'number') note('has no `pass_threshold`: half of its range is taken');
  if (entries.has('sampling_params')) note('has `sampling_params`, which have no equivalent');
  const least = typeof written === 'number' ? written : (lowest + highest) / 2;
  const { messages, answer, model } = question;
  return {
    placeholders: NO_PLACEHOLDERS,
    expect: item => {
      const instructions = messages
        .map(({ text }) => fillReferences(splitAtReferences(text), item, '(the answer)'))
        .join('\n\n');
      return {
        rubric: `scores at least ${least}, from ${lowest} to ${highest}, by these instructions (${lowest} is the score 0, ${highest} is 1):\n\n${instructions}`,
        threshold: Math.min(1, Math.max(0, (least - lowest) / (highest - lowest))),
        ...(model !== undefined && { judge: model }),
        ...answerTransform(answer),
      };
    },
  };
}

/** Runs the function `grade` of a grader. As at OpenAI, an error scores 0. */
const GRADE = `
import json, sys

source, item, least = sys.argv[1:4]
text = sys.stdin.read()
try:
    parsed = json.loads(text)
except ValueError:
    parsed = None
sample = {'output_text': text, 'output_json': parsed, 'choices': [{'message': {'role': 'assistant', 'content': text}}]}
scope = {'__name__': 'grader'}
try:
    exec(source, scope)
    score = float(scope['grade'](sample, json.loads(item)))
except Exception as error:
    sys.exit('it scores 0: ' + repr(error))
if not score >= float(least):
    sys.exit('it scores ' + str(score) + ', less than ' + least)`.trim();

function readPythonGrader(...[entries, note]: Parameters<ReadCriterion>): Criterion | undefined {
  const source = entries.get('source')?.scalar;
  if (source === undefined) {
    note('has no `source`: it is left out');
    return undefined;
  }
  const written = entries.get('pass_threshold')?.json();
  if (typeof written !== 'number') note('has no `pass_threshold`: 0.5 is taken');
  note('is a program: `test` runs it with --allow-commands');
  const least = String(typeof written === 'number' ? written : 0.5);
  return {
    placeholders: NO_PLACEHOLDERS,
    expect: ({ fields }) => ({ command: [PYTHON, '-c', GRADE, source, JSON.stringify(fields), least] }),
  };
}

/** Returns the case of a row. */
function caseOfRow(
  item: EvaluationRow,
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
  const missing = names.filter(name => !Object.hasOwn(item.fields, name));
  for (const name of missing) {
    findings.note({ line: item.line, column: 1 }, `this row has no \`${name}\`: it is empty`, source?.file);
  }
  const inputs = Object.fromEntries(names.map(name => [name, rowText(item, [name])]));
  const seen = criteria
    .flatMap(({ placeholders }) => [...placeholders])
    .filter(([name]) => !names.includes(name));
  return {
    name: caseName(number, Object.values(inputs)[0] ?? ''),
    inputs,
    vars: Object.fromEntries(seen.map(([name, path]) => [name, rowText(item, path)])),
    expect: criteria.map(({ expect }) => expect(item)).filter(one => one !== undefined),
  };
}
