import { messageOf } from '../../../files/error-utils.ts';
import { faultAt } from '../../../files/file-fault.ts';
import { isJsonList, type JsonObject, type JsonValue, ownValue, parseJson } from '../../../files/json.ts';
import { parseYaml, type YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { groupedDigits } from '../../../wire/numbers.ts';
import { BOUNDS } from '../../bounds.ts';
import type { ConvertedCase, TestCaseText } from '../converted.ts';
import {
  type Assertion,
  assertionInCell,
  assertionsIn,
  expectationsOf,
  isCode,
  isJudged,
  judgeIn,
} from './assertions.ts';
import { type Conversion, type KnownKeys, type Located, type SourceText, valuesByKey } from './conversion.ts';
import { isUnreadable, NEEDS_TYPES } from './declared-provider.ts';
import { testsProgram } from './programs.ts';
import { includesPrompt, type PromptNames, readReferences } from './prompt-references.ts';
import { isAnswerSetting } from './provider-settings.ts';
import { fillVars, isUnreadableNunjucks, namesEnvironment, renderVar, resolveVars } from './template.ts';

/** A test before its lists are expanded and its variables filled in. */
interface Test {
  readonly name: string | undefined;
  /** Undefined if it has no single position. */
  readonly at: Located | undefined;
  /** Each of several values makes its own case. */
  readonly vars: ReadonlyMap<string, readonly Variable[]>;
  /** Undefined for an assertion that is left out. */
  readonly asserts: readonly (Assertion | undefined)[];
  readonly options: AssertionOptions;
  readonly metadata: JsonObject;
  /** References to its prompts; undefined for every prompt. */
  readonly prompts?: readonly string[] | undefined;
  /** True if something about the whole test has no equivalent. */
  readonly isLeftOut: boolean;
}

/** A value of a variable. */
interface Variable {
  readonly text: string;
  /** The value for code. */
  readonly json: JsonValue;
  /** Undefined for a value of another kind than a text. */
  readonly at?: Located;
}

/** The options of a test. */
interface AssertionOptions {
  readonly transform?: string | undefined;
  /** The provider that judges, read only if an assertion needs it. */
  readonly provider?: YamlValue | undefined;
  /** The model that judges. */
  readonly judge?: string | undefined;
}

const NOTHING: Test = {
  name: undefined,
  at: undefined,
  vars: new Map(),
  asserts: [],
  options: {},
  metadata: {},
  isLeftOut: false,
};
/** Maximum number of characters in all inputs of all cases. */
const MAX_INPUT_CHARACTERS = 64 * 1024 * 1024;

/** A case with its position in the configuration. */
interface LocatedCase extends ConvertedCase {
  readonly text: TestCaseText;
}

/** The tests of a configuration, before variables are filled in. */
export interface ConfiguredTests {
  readonly all: readonly Test[];
  readonly at: Located;
  readonly repeat: number | undefined;
  /** The names of all variables. */
  readonly names: readonly string[];
}

/** Reads the tests of a configuration with these prompts. */
export async function readTests(
  entries: ReadonlyMap<string, YamlValue>,
  prompts: readonly PromptNames[],
  conversion: Conversion,
): Promise<ConfiguredTests> {
  const common = readDefaultTest(entries.get('defaultTest'), conversion);
  const before = conversion.leftOut;
  const listed = await readTestList(entries.get('tests'), conversion);
  const tests = [...listed, ...(await readScenarios(entries.get('scenarios'), conversion))];
  // `defaultTest` alone is a test, but not in place of tests that are left out.
  const areLeftOut = conversion.isForTest && conversion.leftOut > before;
  const isTested = !areLeftOut && (common.asserts.length > 0 || common.vars.size > 0);
  const merged = (tests.length > 0 ? tests : isTested ? [NOTHING] : []).map(test => mergeTests(common, test));
  const all = withPrompts(withJudges(merged, conversion), prompts, conversion);
  const [root] = entries.values();
  const at = entries.get('tests') ?? root ?? { line: 1, column: 1 };
  const count = all.reduce((sum, { vars }) => sum + combinationCount(vars), 0);
  if (count > BOUNDS.cases) {
    throw faultAt(at, `its lists produce more than ${groupedDigits(BOUNDS.cases)} cases`);
  }
  const names = [...new Set(all.flatMap(({ vars }) => [...vars.keys()]))];
  return { all, at, repeat: repeatIn(entries.get('evaluateOptions')), names };
}

/** Variables with values that are not texts. */
interface JsonVariables {
  readonly names: readonly string[];
  /** Those with values that their text does not tell apart. */
  readonly mixed: readonly string[];
}

/** Returns the variables with values that are not texts. */
export function jsonVariables({ all }: ConfiguredTests): JsonVariables {
  const kinds = new Map<string, { hasJson: boolean; isAmbiguous: boolean }>();
  for (const [name, values] of all.flatMap(({ vars }) => [...vars])) {
    const kind = kinds.get(name) ?? { hasJson: false, isAmbiguous: false };
    for (const { text, json } of values) {
      if (typeof json !== 'string') kind.hasJson = true;
      // An empty text stands for no value.
      if (text === '' || (typeof json === 'string' && parseJson(text) !== undefined)) kind.isAmbiguous = true;
    }
    kinds.set(name, kind);
  }
  const json = [...kinds].filter(([, { hasJson }]) => hasJson);
  return {
    names: json.map(([name]) => name),
    mixed: json.filter(([, { isAmbiguous }]) => isAmbiguous).map(([name]) => name),
  };
}

/** A prompt with its inputs. */
interface CaseNeeds {
  readonly prompt: PromptNames;
  readonly inputs: readonly string[];
  /** Those that programs alone read, as JSON. */
  readonly jsonInputs: readonly string[];
  /** Those whose Nunjucks promptfoo renders. */
  readonly renderedInputs: readonly string[];
  /** True if promptfoo renders every variable, used or not. */
  readonly isEachRendered: boolean;
  /** True if code sees the variables of every case. */
  readonly hasCode: boolean;
}

/** Returns the cases for the inputs of a prompt, each with a value for every input. */
export function casesForPrompt(
  { all, at, repeat }: ConfiguredTests,
  needs: CaseNeeds,
  conversion: Conversion,
): { readonly cases: LocatedCase[]; readonly leftOut: number } {
  const cases: LocatedCase[] = [];
  let characters = 0;
  let unrendered = 0;
  for (const [index, test] of all.entries()) {
    if (!includesPrompt(test.prompts, needs.prompt)) continue;
    for (const one of casesOfTest(test, index + 1, needs, conversion)) {
      // Reports its other faults too.
      if (test.isLeftOut && conversion.isForTest) break;
      if (one.isLeftOut && conversion.isForTest) {
        unrendered += 1;
        continue;
      }
      characters += Object.values(one.text.inputs).reduce((sum, text) => sum + text.length, 0);
      if (characters > MAX_INPUT_CHARACTERS) {
        throw faultAt(at, 'the inputs of its cases are larger than 64 MiB in total');
      }
      const line = (test.at && conversion.ownLine(test.at)) ?? at.line;
      const { text, vars, leftOut } = one;
      cases.push({ vars, leftOut, line, text: { ...text, repeat } });
    }
  }
  const left = all.filter(
    ({ isLeftOut, prompts }) => isLeftOut && conversion.isForTest && includesPrompt(prompts, needs.prompt),
  );
  return { cases, leftOut: left.reduce((sum, { vars }) => sum + combinationCount(vars), unrendered) };
}

/** Returns the number of repetitions of each case. */
function repeatIn(node: YamlValue | undefined): number | undefined {
  if (!node || node.isEmpty) return undefined;
  const repeat = valuesByKey(node, 'evaluateOptions').get('repeat')?.json();
  return typeof repeat === 'number' && Number.isSafeInteger(repeat) && repeat > 1 ? repeat : undefined;
}

function* casesOfTest(
  test: Test,
  number: number,
  { inputs, jsonInputs, renderedInputs, isEachRendered, hasCode: isAlwaysCode }: CaseNeeds,
  conversion: Conversion,
): Generator<Omit<LocatedCase, 'line'> & { readonly isLeftOut: boolean }> {
  const count = combinationCount(test.vars);
  const { transform, judge } = test.options;
  // Other assertions have their variables filled in already.
  const hasCode =
    isAlwaysCode ||
    transform !== undefined ||
    test.asserts.some(one => one && (one.transform !== undefined || isCode(one)));
  const { metadata } = test;
  for (let at = 0; at < count; at += 1) {
    const chosen = combinationAt(test.vars, at);
    const nulls = Object.keys(chosen).filter(key => chosen[key]?.json === null);
    const vars = resolveVars(
      mapValues(chosen, ({ text }) => text),
      nulls,
    );
    const values = mapValues(chosen, ({ text, json }, key) => (json === text ? (vars[key] ?? '') : json));
    const name = test.name === undefined ? `case ${number}` : fillVars(test.name, vars);
    const checks = test.asserts.map(one => one && expectationsOf(one, vars, conversion));
    let isLeftOut = false;
    const inputText = (input: string): string => {
      if (!Object.hasOwn(vars, input)) return '';
      const at = renderedInputs.includes(input) ? chosen[input]?.at : undefined;
      const rendered = at && renderVar(vars[input] ?? '', vars);
      if (rendered !== undefined) return rendered;
      if (at) {
        conversion.note(
          at,
          `the variable \`${input}\` has Nunjucks beyond \`{{name}}\`, which has no equivalent`,
        );
        isLeftOut = true;
      }
      return jsonInputs.includes(input) ? JSON.stringify(values[input]) : (vars[input] ?? '');
    };
    const texts = Object.fromEntries(inputs.map(input => [input, inputText(input)]));
    for (const [key, { at }] of isEachRendered && conversion.isForTest ? Object.entries(chosen) : []) {
      if (!at || renderedInputs.includes(key) || !isUnreadableNunjucks(vars[key] ?? '', vars)) continue;
      conversion.note(at, `the variable \`${key}\` has Nunjucks that promptfoo can't read`);
      isLeftOut = true;
    }
    yield {
      isLeftOut,
      leftOut: checks.filter(check => check === undefined).length,
      vars: values,
      text: {
        name: count > 1 ? `${name} (${at + 1})` : name,
        inputs: texts,
        vars: hasCode ? withoutInputs(values, texts) : {},
        metadata: hasCode && conversion.isForTest && Object.keys(metadata).length > 0 ? metadata : undefined,
        transform,
        judge,
        expect: checks.flatMap(check => check ?? []),
      },
    };
  }
}

/** Returns the values that the inputs alone do not give. */
function withoutInputs(
  vars: Readonly<Record<string, JsonValue>>,
  inputs: Readonly<Record<string, string>>,
): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(Object.entries(vars).filter(([name, value]) => value !== ownValue(inputs, name)));
}

function mapValues<V, R>(
  values: Readonly<Record<string, V>>,
  make: (value: V, key: string) => R,
): Record<string, R> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, make(value, key)]));
}

function combinationCount(vars: Test['vars']): number {
  return [...vars.values()].reduce((product, values) => product * values.length, 1);
}

/** Returns a combination by number; the last variable changes fastest. */
function combinationAt(vars: Test['vars'], number: number): Readonly<Record<string, Variable>> {
  let rest = number;
  const chosen = [...vars].toReversed().map(([key, values]) => {
    const value = values[rest % values.length] ?? NO_VALUE;
    rest = Math.floor(rest / values.length);
    return [key, value] as const;
  });
  return Object.fromEntries(chosen.toReversed());
}

const NO_VALUE: Variable = { text: '', json: '' };

function mergeTests(one: Test, other: Test): Test {
  return {
    name: other.name ?? one.name,
    at: other.at ?? one.at,
    vars: new Map([...one.vars, ...other.vars]),
    asserts: [...one.asserts, ...other.asserts],
    metadata: { ...one.metadata, ...other.metadata },
    prompts: other.prompts ?? one.prompts,
    options: {
      transform: other.options.transform ?? one.options.transform,
      provider: other.options.provider ?? one.options.provider,
    },
    isLeftOut: one.isLeftOut || other.isLeftOut,
  };
}

/** Leaves out the tests with a reference to no prompt, which promptfoo refuses. */
function withPrompts(
  tests: readonly Test[],
  prompts: readonly PromptNames[],
  conversion: Conversion,
): Test[] {
  return tests.map(test => {
    const unknown = test.prompts?.find(
      reference => !prompts.some(prompt => includesPrompt([reference], prompt)),
    );
    if (unknown === undefined) return test;
    conversion.note(test.at ?? { line: 1, column: 1 }, `no prompt is called \`${unknown}\``);
    return { ...test, prompts: undefined, isLeftOut: true };
  });
}

/** Reads the judges of tests with an assertion that asks the judge of its test. */
function withJudges(tests: readonly Test[], conversion: Conversion): Test[] {
  const known = new Map<YamlValue, { readonly judge: string | undefined; readonly isLeftOut: boolean }>();
  return tests.map(test => {
    const { asserts, options } = test;
    const { provider } = options;
    if (!provider || !asserts.some(one => one && isJudged(one) && one.judge === undefined)) return test;
    const before = conversion.leftOut;
    const read = known.get(provider) ?? {
      judge: judgeIn(provider, conversion),
      isLeftOut: conversion.leftOut > before,
    };
    known.set(provider, read);
    const { judge, isLeftOut } = read;
    return { ...test, options: { ...options, judge }, isLeftOut: test.isLeftOut || isLeftOut };
  });
}

function readDefaultTest(node: YamlValue | undefined, conversion: Conversion): Test {
  return node ? readTest(valueOrFile(node, conversion), conversion, true) : NOTHING;
}

/** Returns a value, or the content of the file that it names. */
function valueOrFile(node: YamlValue, conversion: Conversion): YamlValue {
  const { scalar } = node;
  return scalar === undefined ? node : conversion.yaml(scalar, node);
}

/** Returns the settings in the options of `defaultTest`, which promptfoo sends to every provider. */
export function settingsOfAllTests(
  node: YamlValue | undefined,
  conversion: Conversion,
): Map<string, YamlValue> {
  if (!node || !conversion.isForTest) return new Map();
  const options = valuesByKey(valueOrFile(node, conversion), 'defaultTest').get('options');
  const entries =
    options && !options.isEmpty ? valuesByKey(options, 'options') : new Map<string, YamlValue>();
  return new Map([...entries].filter(([key]) => isSetting(key, conversion)));
}

function isSetting(key: string, conversion: Conversion): boolean {
  return isAnswerSetting(key, conversion) && !OPTION_KEYS.known.includes(key);
}

/** Combines each configuration of variables with each test. */
async function readScenarios(node: YamlValue | undefined, conversion: Conversion): Promise<Test[]> {
  if (!node) return [];
  const { scalar } = node;
  const items =
    scalar === undefined ? node.items('scenarios') : conversion.yaml(scalar, node).items('scenarios');
  const combined: Test[] = [];
  for (const item of items) {
    const inner = item.scalar;
    const entries = valuesByKey(inner === undefined ? item : conversion.yaml(inner, item), 'a scenario');
    conversion.noteKeys(entries, SCENARIO_KEYS, ' of a scenario');
    const configs = await readTestList(entries.get('config'), conversion);
    const tests = await readTestList(entries.get('tests'), conversion);
    const each = tests.length > 0 ? tests : [NOTHING];
    if (combined.length + configs.length * each.length > BOUNDS.cases) {
      throw faultAt(node, `its scenarios produce more than ${groupedDigits(BOUNDS.cases)} cases`);
    }
    combined.push(...configs.flatMap(config => each.map(test => mergeTests(config, test))));
  }
  return combined;
}

async function readTestList(node: YamlValue | undefined, conversion: Conversion): Promise<Test[]> {
  if (!node || node.isEmpty) return [];
  const { scalar } = node;
  if (scalar !== undefined) return await readTestsFile(scalar, node, conversion);
  if (!isJsonList(node.json())) {
    const entries = node.isMap ? valuesByKey(node, 'tests') : undefined;
    // A file may hold one test.
    if (entries && !entries.has('path')) return [readTest(node, conversion)];
    return await readTestsFile(entries?.get('path')?.scalar ?? '', node, conversion, entries?.get('config'));
  }
  const tests: Test[] = [];
  for (const item of node.items('tests')) {
    const path = item.isMap ? valuesByKey(item, 'a test').get('path') : undefined;
    const named = item.scalar;
    if (path) tests.push(...(await readTestList(item, conversion)));
    else if (named === undefined) tests.push(readTest(item, conversion));
    else tests.push(...(await readTestsFile(named, item, conversion)));
  }
  return tests;
}

async function readTestsFile(
  name: string,
  at: YamlValue,
  conversion: Conversion,
  config?: YamlValue,
): Promise<Test[]> {
  const { groups: program } = TESTS_PROGRAM.exec(name) ?? {};
  if (program && conversion.isForTest) {
    const { file = '', name: exported = '' } = program;
    conversion.read(file, at);
    if (isUnreadable(file, conversion)) {
      conversion.note(at, `the tests in ${name} are TypeScript, which ${NEEDS_TYPES}`);
      return [];
    }
    if (conversion.noteProgram(at, `the tests in ${name} come from a program`)) return [];
    const argv = testsProgram(conversion.directory, file, exported, JSON.stringify(config?.json() ?? null));
    const printed = conversion.printedBy({ name: argv.join('\0'), argv, line: conversion.ownLine(at) ?? 1 });
    return printed === undefined ? [] : await readTestList(parseYaml(printed, 1, file), conversion);
  }
  if (/[*?]/u.test(name) && !/^https?:/u.test(name)) {
    const files = conversion.matching(name, at);
    if (files.length === 0) throw faultAt(at, `${name} names no file`);
    const tests: Test[] = [];
    for (const file of files) tests.push(...(await readTestsFile(`file://${file}`, at, conversion)));
    return tests;
  }
  if (!/\.(?:csv|jsonl?|ya?ml)$/iu.test(name) || /^https?:/u.test(name)) {
    conversion.note(
      at,
      `the tests in ${name} have no equivalent: a file of them is .yaml, .json, .jsonl or .csv`,
    );
    return [];
  }
  const source = conversion.read(name, at);
  if (/\.csv$/iu.test(name)) return await readTestTable(source, conversion);
  if (!/\.jsonl$/iu.test(name)) return await readTestList(conversion.yaml(name, at), conversion);
  const lines = source.text.split('\n').map((text, index) => ({ text, line: index + 1 }));
  return lines
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, line }) => readTest(parseYaml(text, line, source.file), conversion));
}

/** Matches a file that makes tests, with the name of a function. */
const TESTS_PROGRAM = /^(?:file:\/\/)?(?<file>[^*?]*\.(?:[cm]?[jt]s|py))(?::(?<name>[\w.]+))?$/u;

const SCENARIO_KEYS: KnownKeys = { known: ['config', 'tests', 'description'], unsupported: [] };
const TEST_KEYS: KnownKeys = {
  known: ['description', 'vars', 'assert', 'metadata', 'options', 'id', 'tags', 'prompts'],
  unsupported: ['threshold', 'provider', 'providers', 'providerOutput', 'assertScoringFunction'],
};
const OPTION_KEYS: KnownKeys = {
  known: [
    'provider',
    'transform',
    'postprocess',
    'disableVarExpansion',
    'disableConversationVar',
    'runSerially',
    'factuality',
    'metadata',
  ],
  unsupported: ['prefix', 'suffix', 'rubricPrompt', 'transformVars', 'storeOutputAs', 'repeat'],
};

/** Reads a test. @param isDefault true for `defaultTest`, of which the settings are the providers' */
function readTest(node: YamlValue, conversion: Conversion, isDefault = false): Test {
  const before = conversion.leftOut;
  const entries = valuesByKey(node, 'a test');
  conversion.noteKeys(entries, TEST_KEYS, ' of a test');
  const optionsNode = entries.get('options');
  const options = optionsNode ? valuesByKey(optionsNode, 'options') : new Map<string, YamlValue>();
  const settings = [...options.keys()].filter(key => isSetting(key, conversion));
  const isTaken = isDefault && conversion.isForTest;
  const known = [...OPTION_KEYS.known, ...(isTaken ? settings : [])];
  const unsupported = [...OPTION_KEYS.unsupported, ...settings];
  conversion.noteKeys(options, { known, unsupported }, " of a test's options");
  const transform = (options.get('transform') ?? options.get('postprocess'))?.scalar?.trimEnd();
  conversion.noteTransform(transform, optionsNode ?? node);
  const metadata = entries.get('metadata')?.json();
  const vars = entries.get('vars');
  const isWhole = options.get('disableVarExpansion')?.json() === true;
  const values = vars ? readTestVars(vars, conversion, isWhole) : new Map<string, readonly Variable[]>();
  const prompts = readReferences(entries.get('prompts'));
  const isLeftOut = conversion.leftOut > before;
  return {
    name: entries.get('description')?.text('description'),
    at: node,
    vars: values,
    asserts: assertionsIn(entries.get('assert'), conversion),
    options: { transform, provider: options.get('provider') },
    metadata: isJsonObject(metadata) ? metadata : {},
    prompts,
    isLeftOut,
  };
}

/** Reads variables. @param isWhole true to keep a list of texts as one value */
function readTestVars(
  node: YamlValue,
  conversion: Conversion,
  isWhole: boolean,
): Map<string, readonly Variable[]> {
  if (node.isEmpty) return new Map();
  const { scalar } = node;
  const values = scalar === undefined ? node : conversion.yaml(scalar, node);
  return new Map(
    [...valuesByKey(values, 'vars')].map(([key, value]) => [
      key,
      variableValues(key, value, conversion, isWhole),
    ]),
  );
}

function variableValues(
  key: string,
  node: YamlValue,
  conversion: Conversion,
  isWhole: boolean,
): readonly Variable[] {
  const json = node.json();
  if (json === null) return [{ text: '', json }];
  // Drops the last line break of a block, and normalises numbers.
  if (typeof json === 'string') {
    return variableTexts(json.replace(/\n$/u, ''), node, conversion).map(text => asVariable(text, node));
  }
  if (typeof json !== 'object') return [{ text: String(json), json }];
  if (!isWhole && isJsonList(json) && json.length > 0 && json.every(item => typeof item === 'string')) {
    return json.map(item => asVariable(variableText(item, node, conversion), node));
  }
  conversion.tell(
    node,
    `the variable \`${key}\` is ${isJsonList(json) ? 'a list' : 'an object'}: it is given as JSON`,
  );
  return [{ text: JSON.stringify(json), json }];
}

function asVariable(text: string, at: Located): Variable {
  return { text, json: text, at };
}

/** Returns a text, or the contents of the files that match a pattern. */
function variableTexts(text: string, at: Located, conversion: Conversion): readonly string[] {
  if (!/^file:\/\/[^\n]*[*?]/u.test(text)) return [variableText(text, at, conversion)];
  const files = conversion.matching(text, at);
  if (files.length === 0) throw faultAt(at, `${text} names no file`);
  return files.map(file => variableText(`file://${file}`, at, conversion));
}

/** Returns a text, or the content of a file; YAML as JSON. */
function variableText(text: string, at: Located, conversion: Conversion): string {
  if (!text.startsWith('file://')) {
    // promptfoo fills these in as it reads the configuration itself, for assertions and programs too.
    if (conversion.ownLine(at) !== undefined && namesEnvironment(text)) {
      conversion.note(at, 'a variable with `{{env.…}}` has no equivalent');
    }
    return text;
  }
  if (/\.(?:[cm]?[jt]s|py|rb)(?::\w+)?$/iu.test(text)) {
    conversion.note(at, `${text} is a program, which has no equivalent: the variable is empty`);
    return '';
  }
  if (/\.ya?ml$/iu.test(text)) return JSON.stringify(conversion.yaml(text, at).json());
  return conversion.read(text, at).text.trim();
}

/** Reads the rows of a table: columns are variables, or expectations if they begin with `__`. */
async function readTestTable({ text, file }: SourceText, conversion: Conversion): Promise<Test[]> {
  const { parse } = await import('csv-parse/sync');
  const top = { file, line: 1, column: 1 };
  let rows: { record: Readonly<Record<string, string>>; info: { lines: number } }[];
  try {
    rows = parse(text, { bom: true, columns: true, info: true, relax_column_count: true }) as never;
  } catch (error) {
    throw faultAt(top, `the table can't be read: ${messageOf(error)}`);
  }
  return rows.map(({ record, info }) => {
    const at = { file, line: info.lines, column: 1 };
    const cells = Object.entries(record);
    const expected = cells.filter(([key, cell]) => /^__expected\d*$/u.test(key) && cell.trim() !== '');
    for (const [key] of cells) {
      if (key.startsWith('__') && !/^__(?:expected\d*|description|metric|metadata:.*)$/u.test(key)) {
        conversion.note(top, `the column \`${key}\` has no equivalent`);
      }
    }
    const description = record['__description']?.trim() ?? '';
    return {
      name: description === '' ? undefined : description,
      at,
      vars: new Map(
        cells
          .filter(([key]) => !key.startsWith('__'))
          .map(([key, cell]) => [key, [asVariable(variableText(cell, at, conversion), at)]]),
      ),
      asserts: expected.map(([, cell]) => assertionInCell(cell, at)),
      options: {},
      metadata: {},
      isLeftOut: false,
    };
  });
}
