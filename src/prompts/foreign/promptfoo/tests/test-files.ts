import { faultAt } from '../../../../files/formats/file-fault.ts';
import { isJsonList } from '../../../../files/formats/json.ts';
import { parseYaml, type YamlValue } from '../../../../files/formats/yaml.ts';
import { type Conversion, valuesByKey } from '../conversion.ts';
import { isUnreadable, NEEDS_TYPES } from '../program-files.ts';
import { testsProgram } from '../programs/test-programs.ts';
import { parseWithReferences } from '../references.ts';
import type { ConfiguredTest } from './configured-test.ts';
import { readTest } from './read-test.ts';
import { readTestTable } from './test-table.ts';

export async function readTestList(
  node: YamlValue | undefined,
  conversion: Conversion,
): Promise<ConfiguredTest[]> {
  if (!node || node.isEmpty) return [];
  const { scalar } = node;
  if (scalar !== undefined) {
    const isYaml = /\.ya?ml$/iu.test(scalar);
    if (isYaml && isPassedOver(scalar, node, conversion)) return [];
    return await readTestsFile(scalar, node, conversion);
  }
  if (!isJsonList(node.json())) {
    const entries = node.isMap ? valuesByKey(node, 'tests') : undefined;
    // A file may hold one test.
    if (entries && !entries.has('path')) return [readTest(node, conversion)];
    return await readTestsFile(entries?.get('path')?.scalar ?? '', node, conversion, entries?.get('config'));
  }
  const tests: ConfiguredTest[] = [];
  for (const item of node.items('tests')) {
    const path = item.isMap ? valuesByKey(item, 'a test').get('path') : undefined;
    const namedFile = item.scalar;
    if (namedFile !== undefined && isPassedOver(namedFile, item, conversion)) continue;
    if (path) tests.push(...(await readTestList(item, conversion)));
    else if (namedFile === undefined) tests.push(readTest(item, conversion));
    else tests.push(...(await readTestsFile(namedFile, item, conversion)));
  }
  return tests;
}

/** Returns true, with a warning, for files of tests that don't exist: promptfoo passes over YAML, and over any in a list. */
function isPassedOver(name: string, at: YamlValue, conversion: Conversion): boolean {
  if (!conversion.isForTest || !/\.(?:csv|jsonl?|ya?ml)$/iu.test(name)) return false;
  if (/^https?:/u.test(name)) return false;
  const isThere = isPattern(name)
    ? conversion.files.matching(name, at).length > 0
    : conversion.files.has(name.replace(/^file:\/\//u, ''));
  if (isThere) return false;
  conversion.warn(at, `${name} doesn't exist: it adds no tests, as in promptfoo`);
  return true;
}

async function readTestsFile(
  name: string,
  at: YamlValue,
  conversion: Conversion,
  config?: YamlValue,
): Promise<ConfiguredTest[]> {
  const { groups: program } = TESTS_PROGRAM.exec(name) ?? {};
  if (program && conversion.isForTest) {
    const { file = '', name: exportName = '' } = program;
    conversion.files.read(file, at);
    if (isUnreadable(file, conversion)) {
      conversion.note(at, `the tests in ${name} are TypeScript, which ${NEEDS_TYPES}`);
      return [];
    }
    if (conversion.noteProgram(at, `the tests in ${name} come from a program`)) return [];
    const argv = testsProgram(conversion.directory, file, exportName, JSON.stringify(config?.json() ?? null));
    const printed = conversion.printedBy({ name: argv.join('\0'), argv, line: conversion.ownLine(at) ?? 1 });
    return printed === undefined ? [] : await readTestList(parseYaml(printed, 1, file), conversion);
  }
  if (isPattern(name) && !/^https?:/u.test(name)) {
    const files = conversion.files.matching(name, at);
    if (files.length === 0) throw faultAt(at, `${name} names no file`);
    const tests: ConfiguredTest[] = [];
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
  const source = conversion.files.read(name, at);
  if (/\.csv$/iu.test(name)) return await readTestTable(source, conversion);
  if (!/\.jsonl$/iu.test(name)) {
    return await readTestList(parseWithReferences(source.text, source.file), conversion);
  }
  const lines = source.text.split('\n').map((text, index) => ({ text, line: index + 1 }));
  return lines
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, line }) => readTest(parseYaml(text, line, source.file), conversion));
}

function isPattern(name: string): boolean {
  return /[*?]/u.test(name);
}

/** Matches a file that makes tests, with the name of a function. */
const TESTS_PROGRAM = /^(?:file:\/\/)?(?<file>[^*?]*\.(?:[cm]?[jt]s|py))(?::(?<name>[\w.]+))?$/u;
