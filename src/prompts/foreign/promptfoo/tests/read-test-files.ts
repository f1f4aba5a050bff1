import { faultAt } from '../../../../files/formats/file-fault.ts';
import { isJsonList } from '../../../../files/formats/json.ts';
import { parseYaml, type YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import { isUnloadableTypeScript, NEEDS_TYPESCRIPT_LOADER } from '../files/program-files.ts';
import { type SourceText, withoutFileScheme } from '../files/source-files.ts';
import { parseWithReferences } from '../files/yaml-references.ts';
import { buildTestGenerator } from '../programs/test-generators.ts';
import type { ConfiguredTest } from './configured-test.ts';
import { readTest } from './read-test.ts';
import { readTestTable } from './read-test-table.ts';

/** Matches the name of a file of tests. */
const TESTS_FILE = /\.(?:csv|jsonl?|ya?ml)$/iu;

/** Matches a file that makes tests, and possibly a function: `file://tests.py:make_tests`. */
const TESTS_PROGRAM =
  /^(?:file:\/\/)?(?<file>[^*?]*\.(?:[cm]?[jt]s|py))(?::(?<exportName>[\w.]+))?$/u;

/** Reads tests, and the files of tests that they name. */
export async function readTestList(
  node: YamlValue | undefined,
  conversion: ConversionContext,
): Promise<ConfiguredTest[]> {
  if (!node || node.isEmpty) return [];

  const { scalar: file } = node;
  if (file !== undefined) {
    const isYaml = /\.ya?ml$/iu.test(file);
    return isYaml && omitMissingFile(file, node, conversion)
      ? []
      : await readTestsFile(file, node, conversion);
  }

  if (isJsonList(node.toJson())) return await readListedTests(node, conversion);

  const entries = node.isMap ? readMergedValues(node, 'tests') : undefined;

  // A map without `path` is a single test, as a file may hold.
  if (entries && !entries.has('path')) return [readTest(node, conversion)];

  return await readTestsFile(
    entries?.get('path')?.scalar ?? '',
    node,
    conversion,
    entries?.get('config'),
  );
}

async function readListedTests(
  list: YamlValue,
  conversion: ConversionContext,
): Promise<ConfiguredTest[]> {
  const tests: ConfiguredTest[] = [];
  for (const item of list.readItems('tests')) {
    const { scalar: file } = item;
    const hasPath = item.isMap && readMergedValues(item, 'a test').has('path');
    if (file !== undefined && omitMissingFile(file, item, conversion)) continue;

    if (file !== undefined) {
      tests.push(...(await readTestsFile(file, item, conversion)));
    } else if (hasPath) {
      tests.push(...(await readTestList(item, conversion)));
    } else {
      tests.push(readTest(item, conversion));
    }
  }
  return tests;
}

/**
 * Warns about a file of tests that doesn't exist, and returns true; false for any other. promptfoo
 * passes over such a file in a list, and over one of YAML anywhere.
 */
function omitMissingFile(name: string, place: YamlValue, conversion: ConversionContext): boolean {
  if (!conversion.isForTest || !TESTS_FILE.test(name) || isHttpAddress(name)) return false;
  const exists = isPattern(name)
    ? conversion.files.listMatching(name, place).length > 0
    : conversion.files.hasFile(withoutFileScheme(name));
  if (exists) return false;
  conversion.reportWarning(place, `${name} doesn't exist: it adds no tests, as in promptfoo`);
  return true;
}

/**
 * Reads the tests in a file, in the files that match a pattern, or from a program.
 *
 * @param config the configuration of the program
 */
async function readTestsFile(
  name: string,
  place: YamlValue,
  conversion: ConversionContext,
  config?: YamlValue,
): Promise<ConfiguredTest[]> {
  if (conversion.isForTest && TESTS_PROGRAM.test(name)) {
    return await generateTests(name, place, conversion, config);
  }

  if (isPattern(name) && !isHttpAddress(name)) {
    return await readMatchingFiles(name, place, conversion);
  }

  if (!TESTS_FILE.test(name) || isHttpAddress(name)) {
    conversion.reportOmission(
      place,
      `the tests in ${name} have no equivalent: a file of them is .yaml, .json, .jsonl or .csv`,
    );
    return [];
  }

  const source = conversion.files.read(name, place);
  if (/\.csv$/iu.test(name)) return await readTestTable(source, conversion);
  if (/\.jsonl$/iu.test(name)) return readTestLines(source, conversion);
  return await readTestList(parseWithReferences(source.text, source.file), conversion);
}

/**
 * Reads the tests that a program makes. Returns none until it has run. Reports a program that may
 * not or can't run, and returns none.
 */
async function generateTests(
  name: string,
  place: YamlValue,
  conversion: ConversionContext,
  config: YamlValue | undefined,
): Promise<ConfiguredTest[]> {
  const { file = '', exportName = '' } = TESTS_PROGRAM.exec(name)?.groups ?? {};
  conversion.files.read(file, place);

  if (isUnloadableTypeScript(file, conversion)) {
    conversion.reportOmission(
      place,
      `the tests in ${name} are TypeScript, which ${NEEDS_TYPESCRIPT_LOADER}`,
    );
    return [];
  }

  if (conversion.omitUnlessAllowed(place, `the tests in ${name} come from a program`)) return [];

  const configText = JSON.stringify(config?.toJson() ?? null);
  const argv = buildTestGenerator({
    folder: conversion.directory,
    file,
    exportName,
    config: configText,
  });
  const line = conversion.findConfigurationLine(place) ?? 1;
  const output = conversion.requestOutput({ name: argv.join('\0'), argv, line });

  return output === undefined ? [] : await readTestList(parseYaml(output, 1, file), conversion);
}

async function readMatchingFiles(
  pattern: string,
  place: YamlValue,
  conversion: ConversionContext,
): Promise<ConfiguredTest[]> {
  const files = conversion.files.listMatching(pattern, place);
  if (files.length === 0) throw faultAt(place, `${pattern} names no file`);
  const tests: ConfiguredTest[] = [];
  for (const file of files) {
    tests.push(...(await readTestsFile(`file://${file}`, place, conversion)));
  }
  return tests;
}

/** Reads a file with a test in each line. */
function readTestLines(
  { text, file }: SourceText,
  conversion: ConversionContext,
): ConfiguredTest[] {
  return text.split('\n').flatMap((line, index) => {
    const isBlank = line.trim() === '';
    return isBlank ? [] : [readTest(parseYaml(line, index + 1, file), conversion)];
  });
}

function isPattern(name: string): boolean {
  return /[*?]/u.test(name);
}

function isHttpAddress(name: string): boolean {
  return /^https?:/u.test(name);
}
