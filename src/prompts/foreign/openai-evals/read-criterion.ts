import type { JsonObject } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import type { Findings } from '../../findings.ts';
import { JUDGED_NOTE } from '../converted-prompt.ts';
import { PYTHON_COMMAND } from '../python-command.ts';
import { findAnswerCode, findAnswerPart, toAnswerTransform } from './answer-part.ts';
import {
  type AddCriterionNote,
  type Criterion,
  type CriterionEntries,
  NO_PLACEHOLDERS,
} from './criterion.ts';
import { type EvaluationRow, getRowText } from './evaluation-rows.ts';
import { readLabelModel, readScoreModel } from './judged-criteria.ts';
import { fillReferences, isReference, splitAtReferences, type TextPart } from './row-references.ts';

/** Reads a criterion. Adds a note and returns undefined if it has no equivalent. */
type ReadCriterion = (
  entries: CriterionEntries,
  addNote: AddCriterionNote,
) => Criterion | undefined;

/** The readers of criteria, by type. */
const CRITERION_READERS: { readonly [type: string]: ReadCriterion } = {
  string_check: readStringCheck,
  text_similarity: readTextSimilarity,
  label_model: readLabelModel,
  score_model: readScoreModel,
  python: readPythonGrader,
};

/** Reads a criterion. Adds a note and returns undefined if it has no equivalent. */
export function readCriterion(node: YamlValue, findings: Findings): Criterion | undefined {
  const entries = node.readValuesByKey('a criterion');
  const type = entries.get('type')?.scalar ?? '';
  const name = entries.get('name')?.scalar ?? type;
  const addNote = (message: string): void =>
    findings.addNote(node, `the criterion \`${name}\` ${message}`);
  const read = Object.hasOwn(CRITERION_READERS, type) ? CRITERION_READERS[type] : undefined;
  if (!read) addNote(`has no equivalent: \`${type}\` is left out`);
  return read?.(entries, addNote);
}

/**
 * The operations of `string_check`: as an expectation of the answer, and as code for a text of
 * which the answer is only a part.
 */
const STRING_OPERATIONS: {
  readonly [name: string]: {
    readonly expect: (text: string) => JsonObject;
    readonly code: (input: string, reference: string) => string;
  };
} = {
  eq: {
    expect: text => ({ equals: text }),
    code: (input, reference) => `${input} === ${reference}`,
  },
  ne: {
    expect: text => ({ not: { equals: text } }),
    code: (input, reference) => `${input} !== ${reference}`,
  },
  like: {
    expect: text => ({ contains: text }),
    code: (input, reference) => `(${input}).includes(${reference})`,
  },
  ilike: {
    expect: text => ({ icontains: text }),
    code: (input, reference) => `(${input}).toLowerCase().includes((${reference}).toLowerCase())`,
  },
};

function readStringCheck(
  entries: CriterionEntries,
  addNote: AddCriterionNote,
): Criterion | undefined {
  const name = entries.get('operation')?.scalar ?? '';
  const operation = Object.hasOwn(STRING_OPERATIONS, name) ? STRING_OPERATIONS[name] : undefined;
  if (!operation) {
    addNote(
      `has the operation \`${name}\`, which has no equivalent: there are eq, ne, like and ilike`,
    );
    return undefined;
  }

  const input = readTextParts(entries, 'input');
  const reference = readTextParts(entries, 'reference');
  const answer = findAnswerPart([...input, ...reference], addNote);
  if (!answer) return undefined;

  const isComputed = input.length > 1 || reference.some(part => isReference(part, 'sample'));
  if (isComputed) {
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

function readTextParts(entries: CriterionEntries, key: string): TextPart[] {
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

function readTextSimilarity(
  entries: CriterionEntries,
  addNote: AddCriterionNote,
): Criterion | undefined {
  const reference = readTextParts(entries, 'reference');
  const answer = findAnswerPart(readTextParts(entries, 'input'), addNote);
  if (!answer) return undefined;

  const metric = entries.get('evaluation_metric')?.scalar ?? '';
  const threshold = entries.get('pass_threshold')?.scalar ?? '';
  addNote(`measures \`${metric} >= ${threshold}\`, which becomes a rubric, ${JUDGED_NOTE}`);

  return {
    placeholders: NO_PLACEHOLDERS,
    buildExpectation: row => ({
      rubric: `says in substance the same as this reference:\n\n${fillReferences(reference, row, '')}`,
      ...toAnswerTransform(answer),
    }),
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

function readPythonGrader(
  entries: CriterionEntries,
  addNote: AddCriterionNote,
): Criterion | undefined {
  const source = entries.get('source')?.scalar;
  if (source === undefined) {
    addNote('has no `source`: it is left out');
    return undefined;
  }

  const passThreshold = entries.get('pass_threshold')?.toJson();
  if (typeof passThreshold !== 'number') addNote('has no `pass_threshold`: 0.5 is used');
  addNote('is a program: `test` runs it with --allow-commands');
  const lowestPass = String(typeof passThreshold === 'number' ? passThreshold : 0.5);

  return {
    placeholders: NO_PLACEHOLDERS,
    buildExpectation: ({ fields }) => ({
      command: [PYTHON_COMMAND, '-c', GRADE_PROGRAM, source, JSON.stringify(fields), lowestPass],
    }),
  };
}
