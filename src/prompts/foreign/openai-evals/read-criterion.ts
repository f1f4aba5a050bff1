import { isJsonList, type JsonObject, withoutUndefined } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import type { Findings } from '../../findings.ts';
import { JUDGED_NOTE } from '../converted-prompt.ts';
import { PYTHON } from '../python.ts';
import { type EvaluationRow, getRowText } from './evaluation-rows.ts';
import { addOpenaiProvider, readMessages, type TextMessage } from './read-messages.ts';
import {
  fillReferences,
  isReference,
  type Reference,
  splitAtReferences,
  type TextPart,
} from './row-references.ts';

export interface Criterion {
  /** The fields that its expectation sees, by the name of their placeholder. */
  readonly placeholders: ReadonlyMap<string, readonly string[]>;
  /** Returns the expectation for a row; undefined if it would check nothing. */
  readonly buildExpectation: (row: EvaluationRow) => JsonObject | undefined;
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
export function readCriterion(node: YamlValue, findings: Findings): Criterion | undefined {
  const entries = node.readValuesByKey('a criterion');
  const type = entries.get('type')?.scalar ?? '';
  const name = entries.get('name')?.scalar ?? type;
  const note = (what: string): void => findings.addNote(node, `the criterion \`${name}\` ${what}`);
  const readType = Object.hasOwn(CRITERIA, type) ? CRITERIA[type] : undefined;
  if (!readType) note(`has no equivalent: \`${type}\` is left out`);
  return readType?.(entries, note);
}

/** The answer, or a part of it. */
type AnswerPart = Pick<Reference, 'path'>;

/** Finds the part of the answer that texts refer to; undefined with a note unless it is one. */
function findAnswerPart(
  parts: readonly TextPart[],
  note: (what: string) => void,
): AnswerPart | undefined {
  const answerParts = parts.filter(part => isReference(part, 'sample'));
  const [first] = answerParts;
  if (!first) {
    note('checks the row and not the answer: it is left out');
  } else if (!answerParts.every(({ path }) => path.join('.') === first.path.join('.'))) {
    note('refers to several parts of the answer: it is left out');
  } else if (findAnswerCode(first) === undefined) {
    note(`refers to \`sample.${first.path.join('.')}\`, which has no equivalent: it is left out`);
  } else {
    return first;
  }

  return undefined;
}

/** Returns JavaScript for the answer, or for a part of it; undefined if the part doesn't exist. */
function findAnswerCode({ path: [kind, ...path] }: AnswerPart): string | undefined {
  if (kind === 'output_text' && path.length === 0) return 'output';
  if (kind !== 'output_json') return undefined;

  const value = `JSON.parse(output)${path.map(step => `?.[${JSON.stringify(step)}]`).join('')}`;
  return `(value => typeof value === 'string' ? value : JSON.stringify(value) ?? '')(${value})`;
}

/** Returns the transform that selects a part of the answer; nothing for the whole answer. */
function toAnswerTransform(answer: AnswerPart): { readonly transform?: string } {
  const code = findAnswerCode(answer) ?? 'output';
  return code === 'output' ? {} : { transform: code };
}

/** The operations of `string_check`. `code` is for an answer that is only a part of a text. */
const OPERATIONS: {
  readonly [name: string]: {
    readonly expect: (text: string) => JsonObject;
    readonly code: (input: string, reference: string) => string;
  };
} = {
  eq: { expect: text => ({ equals: text }), code: (one, other) => `${one} === ${other}` },
  ne: { expect: text => ({ not: { equals: text } }), code: (one, other) => `${one} !== ${other}` },
  like: {
    expect: text => ({ contains: text }),
    code: (one, other) => `(${one}).includes(${other})`,
  },
  ilike: {
    expect: text => ({ icontains: text }),
    code: (one, other) => `(${one}).toLowerCase().includes((${other}).toLowerCase())`,
  },
};

const NO_PLACEHOLDERS: ReadonlyMap<string, readonly string[]> = new Map();

function readStringCheck(...[entries, note]: Parameters<ReadCriterion>): Criterion | undefined {
  const name = entries.get('operation')?.scalar ?? '';
  const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  if (!operation) {
    note(
      `has the operation \`${name}\`, which has no equivalent: there are eq, ne, like and ilike`,
    );
    return undefined;
  }

  const input = readTextParts(entries, 'input');
  const reference = readTextParts(entries, 'reference');
  const answer = findAnswerPart([...input, ...reference], note);
  if (!answer) return undefined;

  const isComposed = input.length > 1 || reference.some(part => isReference(part, 'sample'));
  if (isComposed) {
    return {
      placeholders: NO_PLACEHOLDERS,
      buildExpectation: row => ({
        javascript: operation.code(buildTextCode(input, row), buildTextCode(reference, row)),
      }),
    };
  }

  return {
    placeholders: NO_PLACEHOLDERS,
    buildExpectation: row => {
      const text = fillReferences(reference, row, '');
      // Every answer contains an empty text.
      if (text === '' && name.endsWith('like')) return undefined;
      return { ...operation.expect(text), ...toAnswerTransform(answer) };
    },
  };
}

function readTextParts(entries: ReadonlyMap<string, YamlValue>, key: string): TextPart[] {
  return splitAtReferences(entries.get(key)?.scalar ?? '');
}

/** Returns JavaScript for a text with the fields of a row. */
function buildTextCode(parts: readonly TextPart[], row: EvaluationRow): string {
  const codes = parts.map(part => {
    if ('text' in part) return JSON.stringify(part.text);
    return part.source === 'item'
      ? JSON.stringify(getRowText(row, part.path))
      : (findAnswerCode(part) ?? '');
  });
  return codes.join(' + ') || '""';
}

function readTextSimilarity(...[entries, note]: Parameters<ReadCriterion>): Criterion | undefined {
  const reference = readTextParts(entries, 'reference');
  const answer = findAnswerPart(readTextParts(entries, 'input'), note);
  if (!answer) return undefined;

  const metric = entries.get('evaluation_metric')?.scalar ?? '';
  const threshold = entries.get('pass_threshold')?.scalar ?? '';
  note(`measures \`${metric} >= ${threshold}\`, which becomes a rubric, ${JUDGED_NOTE}`);

  return {
    placeholders: NO_PLACEHOLDERS,
    buildExpectation: row => ({
      rubric: `says in substance the same as this reference:\n\n${fillReferences(reference, row, '')}`,
      ...toAnswerTransform(answer),
    }),
  };
}

/**
 * Returns the messages of a criterion that a model judges, and the part of the answer that they
 * refer to.
 */
function readQuestion(...[entries, note]: Parameters<ReadCriterion>) {
  const node = entries.get('input');
  const messages = node ? (readMessages(node.toJson(), node) ?? []) : [];
  const answer = findAnswerPart(
    messages.flatMap(({ text }) => splitAtReferences(text)),
    note,
  );
  const model = entries.get('model')?.scalar;

  return (
    answer && {
      messages,
      answer,
      model: model === undefined ? undefined : addOpenaiProvider(model),
    }
  );
}

function readLabelModel(...[entries, note]: Parameters<ReadCriterion>): Criterion | undefined {
  const question = readQuestion(entries, note);
  if (!question) return undefined;

  const labels = readLabelTexts(entries, 'labels');
  const passingLabels = readLabelTexts(entries, 'passing_labels');

  if (labels.length === 0) {
    note('has no `labels`: it is left out');
    return undefined;
  }

  const { messages, answer, model } = question;
  const systemMessages = messages.filter(isSystemMessage);
  const userMessages = messages.filter(message => !isSystemMessage(message));
  const placeholders = new Map<string, readonly string[]>();
  const system = joinJudgeText(systemMessages, placeholders);
  const user = joinJudgeText(userMessages, placeholders);

  const instruction = `Answer with one of these labels, and nothing else: ${labels.join(', ')}`;
  const llm = withoutUndefined({
    prompt: [user === '' ? system : user, instruction].join('\n\n'),
    systemPrompt: user !== '' && system !== '' ? system : undefined,
    model,
    // A label that is part of another comes after it: the first one in the model's answer decides.
    choices: labels
      .toSorted((one, other) => other.length - one.length)
      .map(label => ({ choice: label, score: passingLabels.includes(label) ? 1 : 0 })),
  });

  return { placeholders, buildExpectation: () => ({ llm, ...toAnswerTransform(answer) }) };
}

function readLabelTexts(entries: ReadonlyMap<string, YamlValue>, key: string): string[] {
  return (entries.get(key)?.readItems(key) ?? []).map(label => label.readText(key));
}

function isSystemMessage({ role }: TextMessage): boolean {
  return role === 'system' || role === 'developer';
}

/**
 * Joins messages with a placeholder for each reference. Adds the fields that they name to
 * `placeholders`.
 */
function joinJudgeText(
  messages: readonly TextMessage[],
  placeholders: Map<string, readonly string[]>,
): string {
  const addPlaceholder = ({ source: of, path }: Reference): string => {
    if (of === 'sample') return '{{completion}}';
    const field = path.join('.');
    const name = field === 'completion' ? 'item.completion' : field;
    placeholders.set(name, path);
    return `{{${name}}}`;
  };
  const texts = messages.map(({ text }) =>
    splitAtReferences(text)
      .map(part => ('text' in part ? part.text : addPlaceholder(part)))
      .join(''),
  );
  return texts.join('\n\n');
}

function readScoreModel(...[entries, note]: Parameters<ReadCriterion>): Criterion | undefined {
  const question = readQuestion(entries, note);
  if (!question) return undefined;

  const range = entries.get('range')?.toJson();
  const [lowest, highest] = isJsonList(range) ? range : [0, 1];
  if (typeof lowest !== 'number' || typeof highest !== 'number' || lowest >= highest) {
    note('has a `range` that is not two numbers: it is left out');
    return undefined;
  }

  const passThreshold = entries.get('pass_threshold')?.toJson();
  if (typeof passThreshold !== 'number') note('has no `pass_threshold`: half of its range is used');
  if (entries.has('sampling_params')) note('has `sampling_params`, which have no equivalent');

  const { messages, answer, model } = question;
  const lowestPass = typeof passThreshold === 'number' ? passThreshold : (lowest + highest) / 2;
  const threshold = Math.min(1, Math.max(0, (lowestPass - lowest) / (highest - lowest)));

  return {
    placeholders: NO_PLACEHOLDERS,
    buildExpectation: row => {
      const instructions = messages
        .map(({ text }) => fillReferences(splitAtReferences(text), row, '(the answer)'))
        .join('\n\n');
      return {
        rubric: `scores at least ${lowestPass}, from ${lowest} to ${highest}, by these instructions (${lowest} is the score 0, ${highest} is 1):\n\n${instructions}`,
        threshold,
        ...(model !== undefined && { judge: model }),
        ...toAnswerTransform(answer),
      };
    },
  };
}

/** Runs the function `grade` of a grader. As at OpenAI, an error scores 0. */
const GRADE_PROGRAM = `
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

  const passThreshold = entries.get('pass_threshold')?.toJson();
  if (typeof passThreshold !== 'number') note('has no `pass_threshold`: 0.5 is used');
  note('is a program: `test` runs it with --allow-commands');
  const lowestPass = String(typeof passThreshold === 'number' ? passThreshold : 0.5);

  return {
    placeholders: NO_PLACEHOLDERS,
    buildExpectation: ({ fields }) => ({
      command: [PYTHON, '-c', GRADE_PROGRAM, source, JSON.stringify(fields), lowestPass],
    }),
  };
}
