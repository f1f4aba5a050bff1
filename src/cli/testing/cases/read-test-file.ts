import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { parseKeyValue } from '../../inputs/flags.ts';
import { type GivenImage, openGivenImages } from '../../inputs/images/place-images.ts';
import { checkNamedFile, imagesNamedIn, NamedFileFault, type NamingFolder } from '../../inputs/named-file.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { readExpectations } from '../expectations/kinds.ts';
import { isTestFile } from './find-test-files.ts';
import { readForeignTests } from './read-foreign-tests.ts';
import type { TestCase, TestFile } from './test-case.ts';
import { YamlPlace } from './yaml-place.ts';

/** A prompt file of ours comes before one of GitHub Models. */
const PROMPT_ENDINGS = ['.prompt', '.prompt.yml', '.prompt.yaml'];
const FILE_KEYS = ['target', 'model', 'models', 'trim', 'cases'];
/** Repetitions of a case at most. */
const MOST_REPEATED = 1000;
const CASE_KEYS = ['name', 'inputs', 'images', 'options', 'expect', 'repeat', 'pass'];

/**
 * Reads a test file and everything it names; nothing is sent.
 *
 * @throws {CliError} USAGE_ERROR with file and line for what is wrong in it
 */
export async function readTestFile(
  ctx: Context,
  file: string,
  { allowOutside }: Pick<NamingFolder, 'allowOutside'>,
): Promise<TestFile> {
  if (!isTestFile(file)) return await readForeignTests(ctx, file);
  const name = path.relative(ctx.cwd, file) || file;
  const place = new YamlPlace(await readTextFile(file, ctx.cwd, 'test'), name);
  const entries = place.entries(place.contents, 'a test file', FILE_KEYS);
  const cases = entries.get('cases');
  if (cases === undefined) {
    throw place.fault(place.contents, 'there are no cases');
  }
  const inFolder = { ...ctx, cwd: path.dirname(file), allowOutside };
  const trims = trimsAnswers(place, entries);
  const read: TestCase[] = [];
  for (const [at, node] of place.list(cases.value ?? cases.key, 'cases').entries()) {
    read.push({ ...(await readCase(inFolder, place, node, at + 1)), trims });
  }
  if (read.length === 0) {
    throw place.fault(cases.key, 'cases is empty');
  }
  return {
    file,
    name,
    target: await targetOf(place, entries, file),
    models: modelsOf(place, entries),
    cases: read,
  };
}

type Entries = ReturnType<YamlPlace['entries']>;

async function targetOf(place: YamlPlace, entries: Entries, file: string): Promise<string> {
  const directory = path.dirname(file);
  const named = entries.get('target');
  const own = `./${path.basename(file).replace(/\.test\.ya?ml$/u, '')}`;
  const targets =
    named === undefined
      ? PROMPT_ENDINGS.map(ending => own + ending)
      : [place.text(named.value ?? named.key, 'target')];
  const [target = ''] = targets;
  if (!PROMPT_ENDINGS.some(ending => target.endsWith(ending))) return target;
  for (const prompt of targets.map(target => path.resolve(directory, target))) {
    const exists = await access(prompt).then(
      () => true,
      () => false,
    );
    if (exists) return prompt;
  }
  throw place.fault(
    named?.value ?? place.contents,
    `there is no prompt file ${target}`,
    'target names what to test: a prompt file, a slug, a version id or an alias.',
  );
}

function modelsOf(place: YamlPlace, entries: Entries): readonly (string | undefined)[] {
  const one = entries.get('model');
  const several = entries.get('models');
  if (one !== undefined && several !== undefined) {
    throw place.fault(several.key, 'model and models are both given');
  }
  if (one !== undefined) {
    return [place.text(one.value ?? one.key, 'model')];
  }
  if (several === undefined) {
    return [undefined];
  }
  const models = place.list(several.value ?? several.key, 'models').map(node => place.text(node, 'a model'));
  if (models.length === 0) {
    throw place.fault(several.key, 'models is empty');
  }
  return [...new Set(models)];
}

function trimsAnswers(place: YamlPlace, entries: Entries): boolean {
  const trim = entries.get('trim');
  const value = trim === undefined ? false : place.value(trim.value);
  if (typeof value === 'boolean') return value;
  throw place.fault(trim?.key, 'trim must be true or false');
}

async function readCase(
  ctx: Context & NamingFolder,
  place: YamlPlace,
  node: unknown,
  number: number,
): Promise<TestCase> {
  const entries = place.entries(node, 'a case', CASE_KEYS);
  const name = entries.get('name');
  const expected = entries.get('expect');
  const repeat = countOf(place, entries, 'repeat') ?? 1;
  if (repeat > MOST_REPEATED) {
    throw place.fault(entries.get('repeat')?.value, `repeat (${repeat}) is more than ${MOST_REPEATED}`);
  }
  const pass = countOf(place, entries, 'pass') ?? repeat;
  if (pass > repeat) {
    throw place.fault(entries.get('pass')?.value, `pass (${pass}) is more than repeat (${repeat})`);
  }
  const facts = {
    name: name === undefined ? `case ${number}` : place.text(name.value ?? name.key, 'name'),
    line: place.lineOf(node),
    options: optionsOf(place, entries),
    repeat,
    pass,
  };
  const reads: string[] = [];
  const noting = { ...ctx, onNamed: (file: string) => reads.push(file) };
  try {
    const expect = expected ? await readExpectations(place, expected.value ?? expected.key, noting) : [];
    return { ...facts, ...(await inputsOf(noting, place, entries)), folder: noting, expect, reads };
  } catch (error) {
    if (!(error instanceof NamedFileFault)) throw error;
    // What a case must not read is a fault of that case alone.
    return { ...facts, text: new Map(), images: [], expect: [], reads, fault: error };
  }
}

function countOf(place: YamlPlace, entries: Entries, key: string): number | undefined {
  const entry = entries.get(key);
  return entry && place.count(entry.value ?? entry.key, key);
}

/** Inputs as `run` takes them, files found beside the test file. */
async function inputsOf(
  ctx: Context & NamingFolder,
  place: YamlPlace,
  entries: Entries,
): Promise<Pick<TestCase, 'text' | 'images'>> {
  const text = new Map<string, string>();
  const inputs = entries.get('inputs');
  for (const [key, { key: node, value }] of inputs === undefined
    ? []
    : place.entries(inputs.value ?? inputs.key, 'inputs')) {
    const written = place.inputText(value ?? node, `the input ${JSON.stringify(key)}`);
    text.set(key, await located(place, value ?? node, async () => readValue(ctx, key, written)));
  }
  const images = entries.get('images');
  const files = images === undefined ? [] : place.list(images.value ?? images.key, 'images');
  const opened: GivenImage[] = [];
  for (const node of files) {
    const given = place.text(node, 'an image');
    opened.push(
      ...(await located(place, node, async () =>
        openGivenImages(imagesNamedIn(ctx, ctx), [refuseStandardInput(place, node, given)]),
      )),
    );
  }
  return { text, images: opened };
}

async function readValue(ctx: Context & NamingFolder, key: string, written: string): Promise<string> {
  if (written === '@-') {
    throw new Error('a test reads no standard input');
  }
  if (/^@(?!@)/u.test(written)) await checkNamedFile(ctx, written.slice(1));
  const { text } = await collectInputs(ctx, { inputs: [`${key}=${written}`], images: [] });
  return text.get(key) ?? '';
}

function refuseStandardInput(place: YamlPlace, node: unknown, given: string): string {
  if (given === '-') {
    throw place.fault(node, 'a test reads no standard input');
  }
  return given;
}

/** What goes wrong with a file is reported with the line that named it. */
async function located<T>(place: YamlPlace, node: unknown, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CliError && error.message.startsWith(place.file)) throw error;
    if (error instanceof NamedFileFault) throw error.at(`${place.file}, line ${place.lineOf(node)}`);
    throw error instanceof Error ? place.fault(node, error.message.replace(/^--input /u, '')) : error;
  }
}

function optionsOf(place: YamlPlace, entries: Entries): ReadonlyMap<string, string> {
  const options = entries.get('options');
  if (options === undefined) {
    return new Map();
  }
  const given = place.entries(options.value ?? options.key, 'options');
  return new Map(
    [...given].map(([key, { key: node, value }]) => {
      const pair = parseKeyValue(`${key}=${place.inputText(value ?? node, `the option ${key}`)}`, 'options');
      return [pair.key, pair.value];
    }),
  );
}
