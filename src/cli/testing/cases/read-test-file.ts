import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { parseKeyValue } from '../../inputs/flags.ts';
import { type GivenImage, openGivenImages } from '../../inputs/images/place-images.ts';
import { checkNamedFile, imagesNamedIn, NamedFileFault, type NamingFolder } from '../../inputs/named-file.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { readExpectations } from '../expectations/kinds.ts';
import { isTestFile } from './find-test-files.ts';
import { readForeignTests } from './read-foreign-tests.ts';
import type { TestCase, TestFile } from './test-case.ts';
import { type YamlEntries, YamlPlace } from './yaml-place.ts';

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
  if (cases === undefined) throw place.fault(place.contents, 'there are no cases');
  const inFolder = { ...ctx, cwd: path.dirname(file), allowOutside };
  const trims = trimsAnswers(place, entries);
  const read: TestCase[] = [];
  for (const [at, node] of place.list(cases.node, 'cases').entries()) {
    read.push({ ...(await readCase(inFolder, place, node, at + 1)), trims });
  }
  if (read.length === 0) throw place.fault(cases.key, 'cases is empty');
  const target = await targetOf(place, entries, file);
  return { file, name, target, models: modelsOf(place, entries), cases: read };
}

async function targetOf(place: YamlPlace, entries: YamlEntries, file: string): Promise<string> {
  const named = entries.get('target');
  const own = `./${path.basename(file).replace(/\.test\.ya?ml$/u, '')}`;
  const targets = named ? [place.text(named.node, 'target')] : PROMPT_ENDINGS.map(ending => own + ending);
  const [target = ''] = targets;
  if (!PROMPT_ENDINGS.some(ending => target.endsWith(ending))) return target;
  const prompt = targets.map(one => path.resolve(path.dirname(file), one)).find(one => existsSync(one));
  if (prompt !== undefined) return prompt;
  throw place.fault(
    named?.node ?? place.contents,
    `there is no prompt file ${target}`,
    'target names what to test: a prompt file, a slug, a version id or an alias.',
  );
}

function modelsOf(place: YamlPlace, entries: YamlEntries): readonly (string | undefined)[] {
  const [one, several] = [entries.get('model'), entries.get('models')];
  if (one && several) throw place.fault(several.key, 'model and models are both given');
  if (one) return [place.text(one.node, 'model')];
  if (several === undefined) return [undefined];
  const models = place.list(several.node, 'models').map(node => place.text(node, 'a model'));
  if (models.length === 0) throw place.fault(several.key, 'models is empty');
  return [...new Set(models)];
}

function trimsAnswers(place: YamlPlace, entries: YamlEntries): boolean {
  const trim = entries.get('trim');
  const value = trim ? place.value(trim.node) : false;
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
  const [name, expected] = [entries.get('name'), entries.get('expect')];
  const countOf = (key: string, otherwise: number, most: number, what: string): number => {
    const entry = entries.get(key);
    const count = entry ? place.count(entry.node, key) : otherwise;
    if (count > most) throw place.fault(entry?.node, `${key} (${count}) is more than ${what}`);
    return count;
  };
  const repeat = countOf('repeat', 1, MOST_REPEATED, String(MOST_REPEATED));
  const facts = {
    name: name ? place.text(name.node, 'name') : `case ${number}`,
    line: place.lineOf(node),
    options: optionsOf(place, entries),
    repeat,
    pass: countOf('pass', repeat, repeat, `repeat (${repeat})`),
  };
  const reads: string[] = [];
  const noting = { ...ctx, onNamed: (file: string) => reads.push(file) };
  try {
    const expect = expected ? await readExpectations(place, expected.node, noting) : [];
    return { ...facts, ...(await inputsOf(noting, place, entries)), folder: noting, expect, reads };
  } catch (error) {
    if (!(error instanceof NamedFileFault)) throw error;
    // What a case must not read is a fault of that case alone.
    return { ...facts, text: new Map(), images: [], expect: [], reads, fault: error };
  }
}

/** Inputs as `run` takes them, files found beside the test file. */
async function inputsOf(
  ctx: Context & NamingFolder,
  place: YamlPlace,
  entries: YamlEntries,
): Promise<Pick<TestCase, 'text' | 'images'>> {
  const text = new Map<string, string>();
  for (const [key, { node }] of entriesUnder(place, entries, 'inputs')) {
    const written = place.inputText(node, `the input ${JSON.stringify(key)}`);
    const value = readValue(ctx, key, written).catch((error: unknown) => {
      throw place.located(node, error, message => message.replace(/^--input /u, ''));
    });
    text.set(key, await value);
  }
  const files = entries.get('images');
  const images: GivenImage[] = [];
  for (const node of files ? place.list(files.node, 'images') : []) {
    const named = place.text(node, 'an image');
    if (named === '-') throw place.fault(node, NO_STANDARD_INPUT);
    const opened = openGivenImages(imagesNamedIn(ctx, ctx), [named]).catch((error: unknown) => {
      throw place.located(node, error, String);
    });
    images.push(...(await opened));
  }
  return { text, images };
}

const NO_STANDARD_INPUT = 'a test reads no standard input';

async function readValue(ctx: Context & NamingFolder, key: string, written: string): Promise<string> {
  if (written === '@-') throw new Error(NO_STANDARD_INPUT);
  if (/^@(?!@)/u.test(written)) await checkNamedFile(ctx, written.slice(1));
  const { text } = await collectInputs(ctx, { inputs: [`${key}=${written}`], images: [] });
  return text.get(key) ?? '';
}

function optionsOf(place: YamlPlace, entries: YamlEntries): ReadonlyMap<string, string> {
  return new Map(
    [...entriesUnder(place, entries, 'options')].map(([key, { node }]) => {
      const pair = parseKeyValue(`${key}=${place.inputText(node, `the option ${key}`)}`, 'options');
      return [pair.key, pair.value];
    }),
  );
}

function entriesUnder(place: YamlPlace, entries: YamlEntries, key: string): YamlEntries {
  const entry = entries.get(key);
  return entry ? place.entries(entry.node, key) : new Map();
}
