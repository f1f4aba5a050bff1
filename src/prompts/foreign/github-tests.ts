import { type FilePosition, faultAt } from '../../files/formats/file-fault.ts';
import { withoutUndefined } from '../../files/formats/json.ts';
import type { YamlEntries, YamlEntry, YamlValue } from '../../files/formats/yaml.ts';
import { formatNumber } from '../../utils/format-number.ts';
import { BOUNDS } from '../bounds.ts';
import type { Findings } from '../findings.ts';
import {
  type ForeignCase,
  type ForeignExpectation,
  type ForeignTests,
  formatCaseName,
} from './foreign-tests.ts';
import { fillInputs } from './template-pieces.ts';

/** Returns the expectation of an evaluator for a row. */
type Evaluator = (row: TestRow) => ForeignExpectation;

/** A row of `testData`, with its fields as texts. */
interface TestRow {
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
}

type AddNote = (place: FilePosition, message: string) => void;

/** The expectation for each check of a string, in order of precedence. */
const STRING_CHECKS = {
  equals: 'equals',
  contains: 'icontains',
  startsWith: 'istartsWith',
  endsWith: 'iendsWith',
} as const;

/**
 * The questions of GitHub Models' built-in evaluators, in our own words, with the fields of a row
 * that they concern.
 */
const GITHUB_EVALUATORS: {
  readonly [name: string]: { readonly question: string; readonly fields: readonly string[] };
} = {
  similarity: {
    question: 'says in substance the same as the expected answer',
    fields: ['expected'],
  },
  relevance: { question: 'answers what the input asks, and keeps to it', fields: ['input'] },
  coherence: {
    question: 'hangs together: it is logical, ordered and easy to follow',
    fields: ['input'],
  },
  fluency: {
    question: 'is fluent: correct in grammar, natural in wording, and readable',
    fields: [],
  },
  groundedness: {
    question: 'says nothing that the context does not support',
    fields: ['input', 'context'],
  },
};

/**
 * Reads `testData` and `evaluators` as cases. Faults become findings; returns undefined if there is
 * no test data, or too much.
 */
export function readGithubTests(
  entries: YamlEntries,
  findings: Findings,
  inputs: readonly string[],
): ForeignTests | undefined {
  const testData = entries.get('testData')?.value;
  if (!testData || testData.isEmpty) return undefined;

  const notes: { line: number; message: string }[] = [];
  const addNote: AddNote = (place, message) => {
    notes.push({ line: place.line, message });
    findings.addNote(place, message);
  };

  const evaluators = listItems(entries, 'evaluators', findings)
    .map((item, index) => findings.attempt(() => readEvaluator(item, index + 1, addNote)))
    .filter(evaluator => evaluator !== undefined);
  const rows = listItems(entries, 'testData', findings);

  const excessFault = findExcessFault(rows.length, evaluators.length);
  if (excessFault !== undefined) {
    findings.addFault(testData, excessFault);
    return undefined;
  }

  const cases = rows
    .map((row, index) =>
      findings.attempt(() => readRow(row, index + 1, { evaluators, inputs, addNote })),
    )
    .filter(foreignCase => foreignCase !== undefined);
  return withoutUndefined({ model: entries.get('model')?.value.scalar, cases, notes });
}

/**
 * Returns the items of a list. Anything else has none, and becomes a finding unless it is empty.
 */
function listItems(entries: YamlEntries, key: string, findings: Findings): YamlValue[] {
  const list = entries.get(key)?.value;
  if (!list || list.isEmpty) return [];
  return findings.attempt(() => list.readItems(key)) ?? [];
}

/** Returns a fault if there are too many rows, or too many pairs of a row and an evaluator. */
function findExcessFault(rowCount: number, evaluatorCount: number): string | undefined {
  if (rowCount > BOUNDS.cases) return `there are more than ${formatNumber(BOUNDS.cases)} rows`;
  if (rowCount * evaluatorCount <= BOUNDS.checks) return undefined;
  return `its rows and evaluators make more than ${formatNumber(BOUNDS.checks)} checks`;
}

/** The parts of the file that each row is read with. */
interface TestRowContext {
  readonly evaluators: readonly Evaluator[];
  /** The inputs of the prompt. */
  readonly inputs: readonly string[];
  readonly addNote: AddNote;
}

/** Reads a row of `testData` as a case. */
function readRow(
  item: YamlValue,
  number: number,
  { evaluators, inputs, addNote }: TestRowContext,
): ForeignCase {
  const entries = item.readEntries('a row of testData');
  const emptyEntry = entries.find(({ value }) => value.isEmpty);
  if (emptyEntry) {
    throw faultAt(emptyEntry, `\`${emptyEntry.key}\` is null: write "" for an empty text`);
  }

  const missingInputs = inputs.filter(input => !entries.some(({ key }) => key === input));
  for (const input of missingInputs) {
    addNote(item, `this row has no \`${input}\`: {{${input}}} stays as text`);
  }

  const fields = Object.fromEntries(entries.map(({ key, value }) => [key, formatRowField(value)]));
  const [firstField = ''] = Object.values(fields);
  const isInput = ([key]: readonly [string, string]): boolean => inputs.includes(key);

  return {
    name: formatCaseName(number, firstField),
    line: item.line,
    inputs: Object.fromEntries([
      ...Object.entries(fields).filter(isInput),
      ...missingInputs.map(input => [input, `{{${input}}}`] as const),
    ]),
    data: Object.fromEntries(Object.entries(fields).filter(field => !isInput(field))),
    expect: evaluators.map(evaluator => evaluator({ line: item.line, fields })),
  };
}

/** Returns a field as text: scalars as written, lists and maps as JSON. */
function formatRowField(value: YamlValue): string {
  return value.scalar ?? JSON.stringify(value.toJson());
}

/** The line of an evaluator, and its number among the evaluators of the file, from 1. */
interface EvaluatorPlace {
  readonly line: number;
  readonly at: number;
}

const EVALUATOR_KINDS = ['string', 'llm', 'uses'];
const LLM_EVALUATOR_KEYS = ['modelId', 'model', 'prompt', 'systemPrompt', 'choices'];
const KNOWN_KINDS_MESSAGE = 'the kinds are string, llm and uses';

function readEvaluator(item: YamlValue, number: number, addNote: AddNote): Evaluator {
  const entries = item.readEntries('an evaluator');
  const [kindEntry, ...otherKinds] = entries.filter(({ key }) => EVALUATOR_KINDS.includes(key));
  const unknownEntry = entries.find(({ key }) => !['name', ...EVALUATOR_KINDS].includes(key));
  if (unknownEntry) {
    throw faultAt(unknownEntry, `\`${unknownEntry.key}\` is not known; ${KNOWN_KINDS_MESSAGE}`);
  }

  if (!kindEntry || otherKinds.length > 0) {
    throw faultAt(otherKinds[0] ?? item, `an evaluator has one kind; ${KNOWN_KINDS_MESSAGE}`);
  }

  const place = { line: kindEntry.line, at: number };
  if (kindEntry.key === 'string') return readStringEvaluator(kindEntry, place, addNote);
  if (kindEntry.key === 'llm') return readLlmEvaluator(kindEntry, place);
  return readBuiltInEvaluator(kindEntry, place);
}

function readStringEvaluator(entry: YamlEntry, place: EvaluatorPlace, addNote: AddNote): Evaluator {
  const checks = entry.value.readEntries('string');
  const unknownEntries = checks.filter(({ key }) => !Object.hasOwn(STRING_CHECKS, key));
  const [usedCheck, ...ignoredChecks] = Object.entries(STRING_CHECKS).flatMap(([name, kind]) => {
    const check = checks.find(({ key, value }) => key === name && !value.isEmpty);
    return check ? [{ kind, check }] : [];
  });
  if (!usedCheck) {
    const [unknownEntry] = unknownEntries;
    if (!unknownEntry) {
      throw faultAt(entry, '`string` needs contains, startsWith, endsWith or equals');
    }

    const checkNames = Object.keys(STRING_CHECKS).join(', ');
    throw faultAt(
      unknownEntry,
      `\`${unknownEntry.key}\` is not a check of a string; the checks are ${checkNames}`,
    );
  }

  for (const unknownEntry of unknownEntries) {
    addNote(
      unknownEntry,
      `\`${unknownEntry.key}\` of a string check is a key that gh models ignores too`,
    );
  }

  for (const { check } of ignoredChecks) {
    addNote(check, `\`${check.key}\` has no effect next to \`${usedCheck.check.key}\``);
  }

  const text = usedCheck.check.value.readText(usedCheck.check.key);
  return ({ fields }) => ({ kind: usedCheck.kind, ...place, text: fillInputs(text, fields) });
}

function readLlmEvaluator(entry: YamlEntry, place: EvaluatorPlace): Evaluator {
  const entries = entry.value.readEntries('llm');
  const unknownEntry = entries.find(({ key }) => !LLM_EVALUATOR_KEYS.includes(key));
  if (unknownEntry) throw faultAt(unknownEntry, `\`${unknownEntry.key}\` is not a key of llm`);

  const findValue = (name: string): YamlValue | undefined =>
    entries.find(({ key }) => key === name)?.value;

  const readText = (name: string): string | undefined => {
    const value = findValue(name);
    return value && !value.isEmpty ? value.readText(name) : undefined;
  };

  const prompt = readText('prompt');
  const choiceList = findValue('choices');
  if (prompt === undefined || !choiceList) {
    throw faultAt(entry, '`llm` needs a prompt and choices');
  }

  const choices = choiceList.readItems('choices').map(readEvaluatorChoice);
  const question = withoutUndefined({
    model: readText('modelId') ?? readText('model'),
    systemPrompt: readText('systemPrompt'),
  });
  return () => ({ kind: 'llm', ...place, prompt, ...question, choices });
}

function readEvaluatorChoice(item: YamlValue): { choice: string; score: number } {
  const entries = item.readValuesByKey('a choice');
  const choice = entries.get('choice');
  const score = entries.get('score')?.toJson();
  if (!choice || typeof score !== 'number') {
    throw faultAt(item, 'a choice needs `choice` and a `score`');
  }

  return { choice: choice.readText('choice'), score };
}

function readBuiltInEvaluator(
  { value: evaluatorValue }: YamlEntry,
  place: EvaluatorPlace,
): Evaluator {
  const name = evaluatorValue.readText('uses');
  const shortName = name.replace(/^github\//u, '');

  const evaluator =
    name.startsWith('github/') && Object.hasOwn(GITHUB_EVALUATORS, shortName)
      ? GITHUB_EVALUATORS[shortName]
      : undefined;
  if (!evaluator) {
    const names = Object.keys(GITHUB_EVALUATORS).map(key => `github/${key}`);
    throw faultAt(
      evaluatorValue,
      `\`${name}\` is not an evaluator; the evaluators are ${names.join(', ')}`,
    );
  }

  return ({ line, fields }) => {
    // The context of groundedness is what the row expects.
    const findField = (name: string): string | undefined =>
      fields[name === 'context' ? 'expected' : name];
    if (shortName === 'similarity' && findField('expected') === undefined) {
      throw faultAt({ line, column: 1 }, `${name} needs the field \`expected\` in each row`);
    }

    const sections = evaluator.fields.flatMap(field => {
      const text = findField(field);
      return text === undefined
        ? []
        : [`\n\nThe ${field === 'expected' ? 'expected answer' : field}:\n${text}`];
    });
    return { kind: 'rubric', ...place, text: `${evaluator.question}${sections.join('')}` };
  };
}
