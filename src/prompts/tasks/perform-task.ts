import type { YamlNode } from '../../files/formats/yaml-node.ts';
import { BOUNDS } from '../bounds.ts';
import type { PromptDefinition, PromptOutput } from '../definition.ts';
import type { ConversionLimits } from '../foreign/conversion-budget.ts';
import type { ConvertOptions } from '../foreign/convert-options.ts';
import type { ConvertedPrompt } from '../foreign/converted-prompt.ts';
import type { ForeignTests } from '../foreign/foreign-tests.ts';
import { createPartialLookup, createSiblingReader } from '../parse/read-prompt-text.ts';
import { checkOutput } from '../render/check-output.ts';
import { renderMessages } from '../render/render-prompt.ts';
import { readTextInputs } from '../render/typed-inputs.ts';
import type { CompiledTemplates } from '../template/compiled-templates.ts';
import { RENDER_LIMITS, type RenderLimits } from '../template/render-budget.ts';
import type { PartialLookup } from '../template/syntax.ts';
import { checkValues } from './check-values.ts';
import { selectFromAnswer } from './select-from-answer.ts';

/** A text with the name of its file in messages. */
interface NamedText {
  readonly text: string;
  readonly file: string;
}

export type TaskLimits = Omit<RenderLimits, 'now'> & {
  /** Time to check values, in milliseconds. */
  readonly checkMs: number;
  /** Limits of a conversion; default none. */
  readonly conversion?: ConversionLimits;
};

export interface TaskContext extends TaskLimits {
  /** The cache for templates between tasks; none by default. */
  readonly templates?: CompiledTemplates;
}

export const FULL_LIMITS: TaskLimits = { ...RENDER_LIMITS, checkMs: BOUNDS.checkMs };

/**
 * The tasks on prompts that may take long, by name. Arguments and results are plain data, so that
 * another process can run them. Each throws LimitExceededError past its limits.
 */
const TASKS = {
  readTexts: (
    {
      definition,
      texts,
    }: { definition: Pick<PromptDefinition, 'textInputs' | 'input'>; texts: TextInputs },
    { checkMs }: TaskLimits,
  ) => readTextInputs(definition, texts, checkMs),
  render: renderMessages,
  checkOutput: (
    { output, text }: { output: PromptOutput; text: string },
    { checkMs }: TaskLimits,
  ) => checkOutput({ output }, text, checkMs),
  select: (
    { text, expressions }: { text: string; expressions: TextInputs },
    { checkMs }: TaskLimits,
  ) => selectFromAnswer(text, expressions, checkMs),
  trySchemas: checkValues,
  parse: parseFile,
  readYaml,
  convert: convertFile,
  convertPrompts,
  foreignTests: readPromptTests,
};

type TextInputs = Readonly<Record<string, string>>;
export type TaskName = keyof typeof TASKS;
export type TaskInput<N extends TaskName> = Parameters<(typeof TASKS)[N]>[0];
export type TaskResult<N extends TaskName> = Awaited<ReturnType<(typeof TASKS)[N]>>;

/** Runs a task in this process. */
export async function performTask<N extends TaskName>(
  name: N,
  work: TaskInput<N>,
  context: TaskContext,
): Promise<TaskResult<N>> {
  // TypeScript can't relate a task to its arguments through a table.
  const task = TASKS[name] as (work: TaskInput<N>, context: TaskContext) => Promise<unknown>;
  return (await task(work, context)) as TaskResult<N>;
}

/** A character of a template or prompt file takes as long as this many characters of a value. */
const TEMPLATE_WEIGHT = 4;

/**
 * A character of a value takes as long as this many characters of a test file, which only commands
 * read.
 */
const TEST_CHARACTERS_PER_UNIT = 8;

const TASK_SIZES: { readonly [N in TaskName]: (work: TaskInput<N>) => number } = {
  // A text without a schema is not parsed.
  readTexts: ({ definition: { textInputs }, texts }) => {
    const parsed = textInputs.filter(({ key, schema }) => schema && Object.hasOwn(texts, key));
    return parsed.reduce((sum, { key }) => sum + (texts[key]?.length ?? 0), 0);
  },
  render: ({ definition: { template, partials }, textInputs }) =>
    sumTextLengths(textInputs) + TEMPLATE_WEIGHT * (template.length + sumTextLengths(partials)),
  checkOutput: ({ text }) => text.length,
  select: ({ text }) => text.length,
  trySchemas: () => 0,
  parse: ({ text, partials }) => TEMPLATE_WEIGHT * (text.length + sumTextLengths(partials)),
  readYaml: ({ text }) => text.length / TEST_CHARACTERS_PER_UNIT,
  // Other conversions don't count what they use.
  convert: work => (work.options.isForTest ? measureConfiguration(work) : Number.POSITIVE_INFINITY),
  convertPrompts: measureConfiguration,
  foreignTests: ({ text }) => text.length / TEST_CHARACTERS_PER_UNIT,
};

/** Returns the size of a task, in characters of a value; 0 for one with a time limit of its own. */
export function measureTask<N extends TaskName>(name: N, work: TaskInput<N>): number {
  return TASK_SIZES[name](work);
}

function sumTextLengths(texts: TextInputs = {}): number {
  return Object.values(texts).reduce((sum, text) => sum + text.length, 0);
}

function measureConfiguration({ text, options }: Pick<Conversion, 'text' | 'options'>): number {
  return (text.length + sumTextLengths(options.programOutputs)) / TEST_CHARACTERS_PER_UNIT;
}

interface ParsedFile extends NamedText {
  /** The partials by name; by default, they are files. */
  readonly partials?: TextInputs;
  /** True if those files may lie outside its folder; default false. */
  readonly allowOutside?: boolean;
  /** True to report faults of its own tests; default false. */
  readonly checksTests?: boolean;
}

/** Parses as much of a prompt file as possible. */
async function parseFile({ text, file, partials, allowOutside, checksTests }: ParsedFile) {
  // Loaded late: a stored version doesn't need the slow parsers of templates and front matter.
  const { parseAnyPrompt } = await import('../foreign/parse-any-prompt.ts');
  const lookup = partials
    ? createMemoryPartialLookup(partials)
    : createPartialLookup(file, { allowOutside });
  const readSibling = partials ? undefined : createSiblingReader(file, { allowOutside });
  const parsed = parseAnyPrompt(text, file, { checksTests, readSibling, partials: lookup });

  return { ...parsed, findings: parsed.findings.list() };
}

async function readYaml({ text, file }: NamedText): Promise<YamlNode | null> {
  const { parseYamlNode } = await import('../../files/formats/yaml-node.ts');
  return parseYamlNode(text, { file });
}

interface Conversion extends NamedText {
  readonly options: ConvertOptions;
}

/** Converts another tool's file, and the files that it names, to promptrun's own. */
async function convertFile(
  { text, file, options }: Conversion,
  { conversion }: TaskLimits,
): Promise<ConvertedPrompt> {
  const { convertForeign } = await import('../foreign/convert-foreign.ts');
  return await convertForeign(text, file, options, conversion);
}

/** Converts some of the prompts of a promptfoo configuration for a test. */
async function convertPrompts(
  { text, file, options, numbers }: Conversion & { readonly numbers: readonly number[] },
  { conversion }: TaskLimits,
): Promise<ConvertedPrompt[]> {
  const { convertNumberedPrompts } = await import('../foreign/convert-foreign.ts');
  return await convertNumberedPrompts(text, file, options, numbers, conversion);
}

/** Reads the tests in another tool's prompt file. */
async function readPromptTests({ text, file }: NamedText): Promise<ForeignTests | undefined> {
  const { parseForeignTests } = await import('../foreign/convert-foreign.ts');
  return parseForeignTests(text, file);
}

function createMemoryPartialLookup(partials: TextInputs): PartialLookup {
  return name =>
    Object.hasOwn(partials, name)
      ? { file: `_${name}.prompt`, text: partials[name] ?? '' }
      : undefined;
}
