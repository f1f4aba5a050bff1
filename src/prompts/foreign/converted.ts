import { stringify } from 'yaml';
import { type JsonObject, type JsonValue, ownValue } from '../../files/formats/json.ts';
import { asTemplate, END_MARK, inputsIn, type Piece } from './template-pieces.ts';

/** A prompt file and its test file, converted from another format. */
export interface Converted {
  readonly prompt: string;
  /** The content of the test file; undefined without tests. */
  readonly test: JsonObject | undefined;
  /** The text of a models file for the programs and addresses in the source. */
  readonly models?: string;
  /** Notes on what was left out because it has no equivalent, and on other differences. */
  readonly notes: readonly ConversionNote[];
  /** The number of prompts in the source; only one is converted. */
  readonly prompts?: number;
  /** True if the source names only unknown providers. */
  readonly isWithoutModel?: boolean;
  /** Maximum number of cases to run at a time. */
  readonly maxConcurrency?: number | undefined;
  /** The cases, with their lines in the source. */
  readonly cases?: readonly ConvertedCase[];
  readonly leftOut?: number;
  /** True if the chosen prompt can't be expressed, so that its cases are left out. */
  readonly isPromptLeftOut?: boolean;
  /** The programs that make tests and have not been run yet. */
  readonly testPrograms?: readonly TestProgram[];
  /** The program that makes the prompt of each case, if there is one. */
  readonly program?: PromptProgram;
  /** The template that makes it, if there is one. */
  readonly template?: PromptTemplate;
}

export interface ConvertedCase {
  readonly line: number;
  /** The number of its checks left out. */
  readonly leftOut: number;
  readonly vars: Readonly<Record<string, JsonValue>>;
  /** The indices of the models to run it with; undefined for all. */
  readonly models?: readonly number[] | undefined;
  /** Set if its prompt may depend on the answers of earlier cases, or later prompts on its answer. */
  readonly turn?: ConvertedTurn;
}

/** The place of a case in a sequence of cases that run one after another. */
export interface ConvertedTurn {
  /** The number of its test; promptfoo repeats all cases of a test before the next test. */
  readonly test: number;
  /** The conversation of its prompt and model that it continues, if its prompt writes one. */
  readonly conversation?: string;
  /** The variable in which its answer is kept for later cases. */
  readonly storesAs?: string;
  /** The variables of earlier cases' answers that its prompt takes. */
  readonly takes: readonly string[];
  /** The indices of the cases whose answers it takes: the one before it in its conversation, and those of its variables. */
  readonly after: readonly number[];
}

/** A program that prints a list of tests as JSON, code that makes other values of their variables, or a template of Nunjucks. */
export type TestProgram = { readonly name: string; readonly line: number } & (
  | { readonly argv: readonly [string, ...string[]] }
  | { readonly code: string; readonly input: JsonValue }
  | RenderedTemplate
);

/** A template of Nunjucks with the variables of a case. */
export interface RenderedTemplate {
  readonly template: string;
  readonly vars: Readonly<Record<string, JsonValue>>;
  /** True to render it as text, with variables that are rendered already; default false, as promptfoo renders a prompt. */
  readonly isPlain?: boolean;
}

/** A prompt whose text is made for each case. */
interface MadePrompt {
  /** The front matter of the prompt file for the text. */
  readonly head: JsonObject;
  /** Inputs that the prompt need not use. */
  readonly optional: readonly string[];
  readonly line: number;
}

/** A program that takes a case's variables and prints a prompt. */
export interface PromptProgram extends MadePrompt {
  readonly argv: readonly [string, ...string[]];
  /** The labels of the test file's models, empty for none, if the program makes a prompt for each. */
  readonly labels?: readonly string[];
}

/** A prompt in Nunjucks that takes more than a prompt file can express. */
export interface PromptTemplate extends MadePrompt {
  readonly text: string;
}

export interface ConversionNote {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  /** True if it changes no test. */
  readonly isHarmless?: boolean;
  /** True if it changes no test, and whoever runs them should know it. */
  readonly isWarning?: boolean;
  /** True if it works once programs and addresses are allowed. */
  readonly needsCommands?: boolean;
}

export interface ConvertOptions {
  /** The names of settings that providers support. */
  readonly settings: readonly string[];
  /** The absolute folder of the file; its paths are relative to it. */
  readonly directory: string;
  /** The number of the prompt to convert, from 1; default 1. */
  readonly prompt?: number | undefined;
  /** True if it may name files outside its folder; default false. */
  readonly allowOutside?: boolean | undefined;
  /** True to run the tests, false to write them to files; default false. */
  readonly isForTest?: boolean;
  /** True if programs and addresses may be run; default false. */
  readonly allowCommands?: boolean;
  /** Names of models that are taken already. */
  readonly taken?: readonly string[];
  /** Providers of a models file whose names are taken already, by name. */
  readonly takenProviders?: Readonly<Record<string, JsonValue>>;
  /** The environment variables that the configuration names. */
  readonly env?: Readonly<Record<string, string>>;
  /** The output of programs that make tests, by name. */
  readonly programOutputs?: Readonly<Record<string, string>>;
  /** The rows of an evaluation, one JSON object per line. */
  readonly items?: { readonly file: string; readonly text: string } | undefined;
}

export interface TestFileParts {
  readonly model?: string;
  readonly models?: readonly (string | JsonObject)[];
  readonly transform?: string;
  /** True to trim answers before they are checked. */
  readonly trim?: boolean;
  readonly cases: readonly TestCaseText[];
}

export interface TestCaseText {
  readonly name: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** Variables that only expectations see. */
  readonly vars?: Readonly<Record<string, JsonValue>>;
  /** The value that code sees as `context.test.metadata`. */
  readonly metadata?: JsonObject | undefined;
  readonly transform?: string | undefined;
  readonly judge?: string | JsonObject | undefined;
  readonly repeat?: number | undefined;
  readonly expect: readonly JsonObject[];
}

/** The note on an expectation that a model judges. */
export const JUDGED_NOTE = 'judged by the model that `promptrun test --judge` names';

/** The inputs of a prompt file, in addition to those in its template. */
export interface InputsText {
  /** Inputs that tags use. */
  readonly used?: readonly string[];
  readonly optional?: readonly string[];
  /** Defaults by input; these inputs are optional too. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** JSON Schemas by input; default a text. */
  readonly schemas?: Readonly<Record<string, JsonObject>>;
}

/** Returns the text of a prompt file. Describes inputs in JSON Schema, which allows any name. */
export function promptFileText(
  { output, ...head }: JsonObject,
  body: readonly Piece[],
  { used = [], optional = [], defaults = {}, schemas = {} }: InputsText = {},
): string {
  const names = [...new Set([...inputsIn(body), ...used, ...optional])];
  const properties = Object.fromEntries(
    names.map(name => [name, ownValue(schemas, name) ?? { type: 'string' }]),
  );
  const requiredNames = names.filter(name => !optional.includes(name) && !Object.hasOwn(defaults, name));
  const knownDefaults = Object.entries(defaults).filter(([name]) => names.includes(name));
  const input = {
    schema: { type: 'object', properties, required: requiredNames },
    ...(knownDefaults.length > 0 && { default: Object.fromEntries(knownDefaults) }),
  };
  const frontMatter = {
    ...head,
    ...(names.length > 0 && { input }),
    ...(output !== undefined && { output }),
  };
  return `---\n${stringify(frontMatter, { lineWidth: 0 })}---\n${asTemplate(body)}\n`;
}

/** Returns a body that keeps its trailing blanks, which are otherwise dropped at the end of a file. */
export function withEndMark(body: readonly Piece[]): readonly Piece[] {
  const last = body.at(-1);
  return last && 'text' in last && /\s$/u.test(last.text) ? [...body, END_MARK] : body;
}

export function modelsFileText(models: readonly JsonObject[], providers: JsonObject = {}): string {
  const named = Object.keys(providers).length > 0 && { providers };
  return stringify({ ...named, ...(models.length > 0 && { models }) }, { lineWidth: 0 });
}

export function testFileContent({ model, models, transform, trim, cases }: TestFileParts): JsonObject {
  return {
    ...(model !== undefined && { model }),
    ...(models && { models }),
    ...(transform !== undefined && { transform }),
    ...(trim && { trim }),
    cases: cases.map(({ name, inputs, vars = {}, metadata, transform, judge, repeat, expect }) => ({
      name,
      ...(Object.keys(inputs).length > 0 && { inputs: escapeFileNames(inputs) }),
      ...(Object.keys(vars).length > 0 && { vars }),
      ...(metadata !== undefined && { metadata }),
      ...(transform !== undefined && { transform }),
      ...(judge !== undefined && { judge }),
      ...(repeat !== undefined && { repeat }),
      ...(expect.length > 0 && { expect }),
    })),
  };
}

export function testFileText(content: JsonObject): string {
  return stringify(content, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Escapes inputs that begin with `@`, which would name a file. */
function escapeFileNames(inputs: Readonly<Record<string, string>>): JsonObject {
  const entries = Object.entries(inputs).map(([key, text]): [string, JsonValue] => [
    key,
    text.startsWith('@') ? `@${text}` : text,
  ]);
  return Object.fromEntries(entries);
}
