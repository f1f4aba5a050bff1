import path from 'node:path';
import type { YamlEntries, YamlValue } from '../../../files/formats/yaml.ts';
import { CaseFault } from '../../core/errors.ts';
import { parseKeyValue } from '../../inputs/flag-values.ts';
import { openImages, type UnplacedImage } from '../../inputs/images/place-images.ts';
import { checkNamedFile, createNamedImageOpener } from '../../inputs/named-file.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { readExpectations } from '../expectations/read-expectations.ts';
import type { ReadingContext } from './reading-context.ts';
import { MAX_REPEAT } from './repeat-cases.ts';
import { chooseJudge, readPass, readTransform } from './shared-fields.ts';
import type { TestCase } from './test-case.ts';
import {
  readInputText,
  readMapFields,
  readNumber,
  requireText,
  testFileError,
  withValuePlace,
} from './test-values.ts';

const CASE_KEYS = [
  'name',
  'inputs',
  'images',
  'options',
  'vars',
  'transform',
  'judge',
  'expect',
  'repeat',
  'pass',
];

const NO_STANDARD_INPUT_MESSAGE = "a test can't read standard input";

/** A key of promptfoo's tests, which code sees. */
const METADATA_KEY = 'metadata';

/** A case with a rule about its passes only if it has its own `pass`. */
type ReadCase = Omit<TestCase, 'passRule'> & Partial<Pick<TestCase, 'passRule'>>;

/** Reads a case. A fault that concerns only its inputs or expectations becomes part of it. */
export async function readCase(
  ctx: ReadingContext,
  value: YamlValue,
  number: number,
): Promise<ReadCase> {
  if (value.isEmpty) throw testFileError(value, 'a case must be a map of keys to values');

  const keys = ctx.isAsPromptfoo ? [...CASE_KEYS, METADATA_KEY] : CASE_KEYS;
  const fields = readMapFields(value, 'a case', keys);
  const common = {
    ...readCaseName(fields, number),
    line: value.line,
    options: readOptions(fields),
    repeat: readRepeat(fields),
    ...readPass(fields),
    ...readMetadata(fields),
  };

  const filesRead: string[] = [];
  const caseContext = { ...ctx, onNamedFile: (file: string) => filesRead.push(file) };
  try {
    const judge = chooseJudge(fields, ctx);
    const expectValue = fields.get('expect')?.value;
    const expectations = expectValue
      ? await readExpectations(expectValue, { ...caseContext, judge })
      : [];
    const transform = await readTransform(caseContext, fields);
    const inputs = await readCaseInputs(caseContext, fields);

    return {
      ...common,
      ...inputs,
      ...readCaseVars(fields),
      ...transform,
      // Images that texts name are opened later, and then join `filesRead` too.
      folder: caseContext,
      expectations,
      filesRead,
    };
  } catch (error) {
    if (!(error instanceof CaseFault)) throw error;
    return { ...common, text: new Map(), images: [], expectations: [], filesRead, fault: error };
  }
}

function readCaseName(fields: YamlEntries, number: number): Pick<TestCase, 'name' | 'isNumbered'> {
  const name = fields.get('name')?.value;
  if (!name) return { name: `case ${number}`, isNumbered: true };
  return { name: requireText(name, 'name') };
}

/** Reads the values that only expectations see; placeholders of `llm` stand for them as text. */
function readCaseVars(fields: YamlEntries): Pick<TestCase, 'vars' | 'placeholderValues'> {
  const entries = [...readFieldsUnder(fields, 'vars')].map(([key, { value }]) => ({ key, value }));
  if (entries.length === 0) return {};
  return {
    vars: Object.fromEntries(entries.map(({ key, value }) => [key, value.toJson()])),
    placeholderValues: new Map(
      entries.map(({ key, value }) => [
        key,
        value.isEmpty ? '' : readInputText(value, `the variable ${key}`),
      ]),
    ),
  };
}

function readMetadata(fields: YamlEntries): Pick<TestCase, 'metadata'> {
  const entry = fields.get(METADATA_KEY);
  return entry ? { metadata: entry.value.toJson() } : {};
}

function readRepeat(fields: YamlEntries): number {
  const value = fields.get('repeat')?.value;
  if (value === undefined) return 1;
  const repeat = readNumber(value, 'repeat', 'a whole number of 1 or more');
  if (repeat > MAX_REPEAT) {
    throw testFileError(value, `repeat (${repeat}) is more than ${MAX_REPEAT}`);
  }
  return repeat;
}

/** Reads a case's inputs like those of `run`, with files relative to the test file. */
async function readCaseInputs(
  ctx: ReadingContext,
  fields: YamlEntries,
): Promise<Pick<TestCase, 'text' | 'images'>> {
  const text = new Map<string, string>();
  for (const [key, { value }] of readFieldsUnder(fields, 'inputs')) {
    const sourceText = readInputText(value, `the input ${JSON.stringify(key)}`);
    const inputText = await readCaseValue(ctx, key, sourceText).catch((error: unknown) => {
      throw withValuePlace(value, error, message => message.replace(/^--input /u, ''));
    });
    text.set(key, inputText);
  }

  const images: UnplacedImage[] = [];
  for (const value of fields.get('images')?.value.readItems('images') ?? []) {
    const name = requireText(value, 'an image');
    if (name === '-') throw testFileError(value, NO_STANDARD_INPUT_MESSAGE);
    const opener = createNamedImageOpener(ctx, ctx);
    const openedImages = await openImages(opener, [name]).catch((error: unknown) => {
      throw withValuePlace(value, error, String);
    });
    images.push(...openedImages);
  }

  return { text, images };
}

/** Reads the value of an input; a file that several cases name is read once. */
async function readCaseValue(
  ctx: ReadingContext,
  key: string,
  sourceText: string,
): Promise<string> {
  if (sourceText === '@-') throw new Error(NO_STANDARD_INPUT_MESSAGE);

  const readValue = async (): Promise<string> => {
    const { text } = await collectInputs(ctx, { inputs: [`${key}=${sourceText}`], images: [] });
    return text.get(key) ?? '';
  };

  const isFileName = /^@(?!@)/u.test(sourceText);
  if (!isFileName) return await readValue();

  const name = sourceText.slice(1);
  checkNamedFile(ctx, name);
  const filePath = path.resolve(ctx.cwd, name);
  const value = ctx.inputFileTexts.get(filePath) ?? (await readValue());
  ctx.inputFileTexts.set(filePath, value);

  return value;
}

function readOptions(fields: YamlEntries): ReadonlyMap<string, string> {
  return new Map(
    [...readFieldsUnder(fields, 'options')].map(([key, { value }]) => {
      const pair = parseKeyValue(`${key}=${readInputText(value, `the option ${key}`)}`, 'options');
      return [pair.key, pair.value];
    }),
  );
}

function readFieldsUnder(fields: YamlEntries, key: string): YamlEntries {
  const entry = fields.get(key);
  return entry ? readMapFields(entry.value, key) : new Map();
}
