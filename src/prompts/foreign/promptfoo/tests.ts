import { messageOf } from '../../../files/error-utils.ts';
import { faultAt } from '../../../files/file-fault.ts';
import { isJsonList } from '../../../files/json.ts';
import { parseYaml, type YamlValue } from '../../../files/yaml.ts';
import type { TestCaseText } from '../converted.ts';
import { type Assertion, assertionInCell, assertionsIn, expectationsOf } from './assertions.ts';
import type { Conversion, Located, SourceText } from './source.ts';
import { render, resolved, type Vars } from './template.ts';

/** A test before its lists are taken apart and its variables are put in. */
interface Test {
  readonly name: string | undefined;
  /** Several texts stand for as many cases. */
  readonly vars: ReadonlyMap<string, readonly string[]>;
  readonly asserts: readonly Assertion[];
}

const NOTHING: Test = { name: undefined, vars: new Map(), asserts: [] };
/** Two long lists make a case of every pair. */
const MOST_CASES = 10_000;

/** The cases that a configuration tests a prompt with, each with a value for each of the prompt's inputs. */
export async function casesOf(
  entries: ReadonlyMap<string, YamlValue>,
  inputs: readonly string[],
  conversion: Conversion,
): Promise<TestCaseText[]> {
  const common = defaultsOf(entries.get('defaultTest'), conversion);
  const listed = await testsIn(entries.get('tests'), conversion);
  const tests = [...listed, ...(await scenariosIn(entries.get('scenarios'), conversion))];
  const isTested = tests.length > 0 || common.asserts.length > 0 || common.vars.size > 0;
  const all = (tests.length > 0 ? tests : isTested ? [NOTHING] : []).map(test => merged(common, test));
  const cases = all.flatMap((test, at) => casesOfTest(test, at + 1, inputs, conversion));
  const [root] = entries.values();
  if (cases.length > MOST_CASES && root) {
    throw faultAt(
      entries.get('tests') ?? root,
      `its lists make more than ${MOST_CASES.toLocaleString('en-US')} cases`,
    );
  }
  return cases;
}

function casesOfTest(
  test: Test,
  number: number,
  inputs: readonly string[],
  conversion: Conversion,
): TestCaseText[] {
  const combinations = combinationsOf(test.vars);
  return combinations.map((values, at) => {
    const vars = resolved(values);
    const name = test.name === undefined ? `case ${number}` : render(test.name, vars);
    return {
      name: combinations.length > 1 ? `${name} (${at + 1})` : name,
      inputs: Object.fromEntries(
        inputs.map(input => [input, Object.hasOwn(vars, input) ? (vars[input] ?? '') : '']),
      ),
      expect: test.asserts.flatMap(assertion => expectationsOf(assertion, vars, conversion)),
    };
  });
}

function combinationsOf(vars: Test['vars']): Vars[] {
  let combinations: Vars[] = [{}];
  for (const [key, values] of vars) {
    const next = combinations.flatMap(combination => values.map(value => ({ ...combination, [key]: value })));
    combinations = next.slice(0, MOST_CASES + 1);
  }
  return combinations;
}

function merged(one: Test, other: Test): Test {
  return {
    name: other.name ?? one.name,
    vars: new Map([...one.vars, ...other.vars]),
    asserts: [...one.asserts, ...other.asserts],
  };
}

function defaultsOf(node: YamlValue | undefined, conversion: Conversion): Test {
  if (!node) return NOTHING;
  const { scalar } = node;
  return testOf(scalar === undefined ? node : conversion.yaml(scalar, node), conversion);
}

/** Each configuration of variables with each of the tests. */
async function scenariosIn(node: YamlValue | undefined, conversion: Conversion): Promise<Test[]> {
  if (!node) return [];
  const { scalar } = node;
  const items =
    scalar === undefined ? node.items('scenarios') : conversion.yaml(scalar, node).items('scenarios');
  const combined: Test[] = [];
  for (const item of items) {
    const inner = item.scalar;
    const entries = (inner === undefined ? item : conversion.yaml(inner, item)).valuesByKey('a scenario');
    conversion.noteUnknown(entries, ['config', 'tests', 'description'], ' of a scenario');
    const configs = await testsIn(entries.get('config'), conversion);
    const tests = await testsIn(entries.get('tests'), conversion);
    const each = tests.length > 0 ? tests : [NOTHING];
    combined.push(...configs.flatMap(config => each.map(test => merged(config, test))));
  }
  return combined;
}

async function testsIn(node: YamlValue | undefined, conversion: Conversion): Promise<Test[]> {
  if (!node || node.isEmpty) return [];
  const { scalar } = node;
  if (scalar !== undefined) return await testsInFile(scalar, node, conversion);
  if (!isJsonList(node.json())) {
    conversion.note(node, 'tests that a program makes have no equivalent');
    return [];
  }
  const tests: Test[] = [];
  for (const item of node.items('tests')) {
    const named = item.scalar;
    tests.push(
      ...(named === undefined ? [testOf(item, conversion)] : await testsInFile(named, item, conversion)),
    );
  }
  return tests;
}

async function testsInFile(name: string, at: YamlValue, conversion: Conversion): Promise<Test[]> {
  if (!/\.(?:csv|jsonl?|ya?ml)$/iu.test(name) || /^https?:|[*?]/u.test(name)) {
    conversion.note(
      at,
      `the tests in ${name} have no equivalent: a file of them is .yaml, .json, .jsonl or .csv`,
    );
    return [];
  }
  const source = conversion.read(name, at);
  if (/\.csv$/iu.test(name)) return await rowsOf(source, conversion);
  if (!/\.jsonl$/iu.test(name)) return await testsIn(conversion.yaml(name, at), conversion);
  const lines = source.text.split('\n').map((text, at) => ({ text, line: at + 1 }));
  return lines
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, line }) => testOf(parseYaml(text, line, source.file), conversion));
}

function testOf(node: YamlValue, conversion: Conversion): Test {
  const entries = node.valuesByKey('a test');
  conversion.noteUnknown(entries, ['description', 'vars', 'assert'], ' of a test');
  const vars = entries.get('vars');
  return {
    name: entries.get('description')?.text('description'),
    vars: vars ? varsOf(vars, conversion) : new Map(),
    asserts: assertionsIn(entries.get('assert'), conversion),
  };
}

function varsOf(node: YamlValue, conversion: Conversion): Map<string, readonly string[]> {
  if (node.isEmpty) return new Map();
  const { scalar } = node;
  const values = scalar === undefined ? node : conversion.yaml(scalar, node);
  return new Map(
    [...values.valuesByKey('vars')].map(([key, value]) => [key, textsOf(key, value, conversion)]),
  );
}

function textsOf(key: string, node: YamlValue, conversion: Conversion): readonly string[] {
  const json = node.json();
  if (json === null) return [''];
  if (typeof json === 'string') return [textOf(json, node, conversion)];
  if (typeof json !== 'object') return [node.text(key)];
  if (isJsonList(json) && json.every(item => typeof item === 'string')) {
    return json.map(item => textOf(item, node, conversion));
  }
  conversion.note(
    node,
    `the variable \`${key}\` is ${isJsonList(json) ? 'a list' : 'an object'}: it is given as JSON`,
  );
  return [JSON.stringify(json)];
}

/** A text, or what a file holds: YAML as JSON. */
function textOf(text: string, at: Located, conversion: Conversion): string {
  if (!text.startsWith('file://')) return text;
  if (/\.(?:[cm]?[jt]s|py|rb)(?::\w+)?$/iu.test(text)) {
    conversion.note(at, `${text} is a program, which has no equivalent: the variable is empty`);
    return '';
  }
  if (/\.ya?ml$/iu.test(text)) return JSON.stringify(conversion.yaml(text, at).json());
  return conversion.read(text, at).text.trim();
}

/** Rows of a table: columns are variables, those that begin with `__` say what is expected. */
async function rowsOf({ text, file }: SourceText, conversion: Conversion): Promise<Test[]> {
  const { parse } = await import('csv-parse/sync');
  const top = { file, line: 1, column: 1 };
  let rows: { record: Readonly<Record<string, string>>; info: { lines: number } }[];
  try {
    rows = parse(text, { bom: true, columns: true, info: true, relax_column_count: true }) as never;
  } catch (error) {
    throw faultAt(top, `the table can’t be read: ${messageOf(error)}`);
  }
  return rows.map(({ record, info }) => {
    const at = { file, line: info.lines, column: 1 };
    const cells = Object.entries(record);
    const expected = cells.filter(([key, cell]) => /^__expected\d*$/u.test(key) && cell.trim() !== '');
    for (const [key] of cells) {
      if (key.startsWith('__') && !/^__(?:expected\d*|description)$/u.test(key)) {
        conversion.note(top, `the column \`${key}\` has no equivalent`);
      }
    }
    const description = record['__description']?.trim() ?? '';
    return {
      name: description === '' ? undefined : description,
      vars: new Map(
        cells
          .filter(([key]) => !key.startsWith('__'))
          .map(([key, cell]) => [key, [textOf(cell, at, conversion)]]),
      ),
      asserts: expected.map(([, cell]) => assertionInCell(cell, at)),
    };
  });
}
