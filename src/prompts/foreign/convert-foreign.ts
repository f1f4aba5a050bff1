import path from 'node:path';
import type { JsonObject } from '../../files/formats/json.ts';
import { type Finding, Findings, InvalidPromptFileError, toPromptFileError } from '../findings.ts';
import { createSiblingReader } from '../parse/read-prompt-text.ts';
import type { ConversionLimits } from './conversion-budget.ts';
import type { ConvertOptions } from './convert-options.ts';
import { type ConvertedPrompt, JUDGED_NOTE } from './converted-prompt.ts';
import { detectFormat, reportFormat } from './detect-format.ts';
import { buildTestFile } from './file-texts.ts';
import type { ForeignPrompt, ForeignSource } from './foreign-format.ts';
import type { ForeignExpectation, ForeignTests } from './foreign-tests.ts';
import { convertEvaluation, OPENAI_EVALS } from './openai-evals/convert-evaluation.ts';
import { qualifyModel } from './qualify-model.ts';
import { fillInputs } from './template-pieces.ts';

/**
 * Converts a file of another format to a prompt file with its tests.
 *
 * @param file the name in messages
 * @param limits limits for a configuration of promptfoo, the only one that counts what it uses;
 * default none
 * @throws {InvalidPromptFileError} whose message names file and line, for a form or a prompt that
 * can't be converted
 * @throws {LimitExceededError} past the limits
 */
export async function convertForeign(
  text: string,
  file: string,
  options: ConvertOptions,
  limits?: ConversionLimits,
): Promise<ConvertedPrompt> {
  const format = detectFormat(file, text);
  if (options.rowsFile && format.kind !== 'evaluation') {
    throw new InvalidPromptFileError(
      file,
      1,
      `--items names the rows of ${OPENAI_EVALS}, and this is not one`,
    );
  }

  if (format.kind === 'promptfoo') {
    const { convertPromptfoo } = await import('./promptfoo/convert-promptfoo.ts');
    return await convertPromptfoo({ text, root: format.root }, file, options, limits);
  }

  if (format.kind === 'evaluation') {
    const findings = new Findings(file);
    const evaluation = convertEvaluation({ file, text }, findings, options);
    if (!evaluation) throw toPromptFileError(findings);
    return { ...evaluation, notes: toNotes(findings.list()) };
  }

  // A check without an equivalent is left out with a note.
  const testFindings = new Findings(file);
  const { directory, allowOutside } = options;
  const readSibling = createSiblingReader(path.join(directory, path.basename(file)), {
    allowOutside,
  });
  const { prompt, findings } = readForeign({ text, file, readSibling }, testFindings);
  return buildConvertedFiles(prompt, file, [...findings.list(), ...testFindings.list()]);
}

/**
 * Converts some of the prompts of a promptfoo configuration, which is parsed once for all.
 *
 * @param promptNumbers the numbers of the prompts, from 1
 * @throws as `convertForeign` does
 */
export async function convertNumberedPrompts(
  text: string,
  file: string,
  options: ConvertOptions,
  promptNumbers: readonly number[],
  limits?: ConversionLimits,
): Promise<ConvertedPrompt[]> {
  const format = detectFormat(file, text);
  if (format.kind !== 'promptfoo') throw new Error(`${file} has no prompts by number`);

  const { convertPromptfoo } = await import('./promptfoo/convert-promptfoo.ts');
  const source = { text, root: format.root };
  const conversions: ConvertedPrompt[] = [];
  for (const promptNumber of promptNumbers) {
    conversions.push(await convertPromptfoo(source, file, { ...options, promptNumber }, limits));
  }

  return conversions;
}

/**
 * Returns the cases of a file of another format; undefined if it has no tests.
 *
 * @throws {InvalidPromptFileError} whose message names file and line
 */
export function parseForeignTests(text: string, file: string): ForeignTests | undefined {
  return readForeign({ text, file, readSibling: () => undefined }).prompt.tests;
}

function readForeign(
  source: ForeignSource,
  testFindings?: Findings,
): { prompt: ForeignPrompt; findings: Findings } {
  const { file } = source;
  const format = detectFormat(file, source.text);
  const findings = new Findings(file);
  const prompt =
    format.kind === 'foreign'
      ? format.foreignFormat.read(source, findings, testFindings ?? findings)
      : undefined;
  if (format.kind !== 'foreign') reportFormat(format, file, findings);
  if (!prompt || findings.hasFaults) throw toPromptFileError(findings);

  return { prompt, findings };
}

function toNotes(findings: readonly Finding[]): ConvertedPrompt['notes'] {
  return findings.map(({ file, line, message }) => ({ file, line, message }));
}

/** Puts the provider in front of the model of a prompt file, if the model's name shows it. */
function qualifyFrontMatterModel(promptText: string): string {
  const [frontMatter = ''] = /^---\n[\s\S]*?^---\n/mu.exec(promptText) ?? [];
  const qualifiedFrontMatter = frontMatter.replace(
    /(?<=^model: ).+$/mu,
    name => qualifyModel(name) ?? name,
  );
  return qualifiedFrontMatter + promptText.slice(frontMatter.length);
}

function buildConvertedFiles(
  { prompt: text, tests }: ForeignPrompt,
  file: string,
  findings: readonly Finding[],
): ConvertedPrompt {
  const notes = toNotes(findings);
  const promptText = qualifyFrontMatterModel(text);
  if (!tests || tests.cases.length === 0) return { promptText, testContent: undefined, notes };

  const cases = tests.cases.map(({ name, inputs, data, expect }) => ({
    name,
    inputs,
    expect: expect.map(expectation => toExpectationJson(expectation, data)),
  }));
  // Every case has the same expectations, so that one note is enough.
  const judgedExpectation = tests.cases[0]?.expect.find(({ kind }) => kind === 'rubric');

  return {
    promptText,
    testContent: buildTestFile({ trim: true, cases }),
    notes: [
      ...notes,
      ...(judgedExpectation ? [{ file, line: judgedExpectation.line, message: JUDGED_NOTE }] : []),
    ],
  };
}

function toExpectationJson(
  expectation: ForeignExpectation,
  data: Readonly<Record<string, string>>,
): JsonObject {
  const { kind } = expectation;
  if (kind !== 'llm') return { [kind]: expectation.text };

  const { prompt, systemPrompt, model, choices } = expectation;
  const { completion: _, ...fields } = data;

  return {
    llm: {
      prompt: fillInputs(prompt, fields),
      ...(systemPrompt !== undefined && { systemPrompt: fillInputs(systemPrompt, fields) }),
      ...(model !== undefined && { model }),
      choices: choices.map(({ choice, score }) => ({ choice, score })),
    },
  };
}
