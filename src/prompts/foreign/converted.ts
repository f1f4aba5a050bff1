import { stringify } from 'yaml';
import type { JsonObject, JsonValue } from '../../files/json.ts';
import { asTemplate, END, inputsIn, type Piece } from './as-template.ts';

/** A prompt file and its test file, made from a file of another form. */
export interface Converted {
  readonly prompt: string;
  /** Undefined if there are no tests. */
  readonly test: string | undefined;
  /** A models file for the programs and addresses that it names. */
  readonly models?: string;
  /** What has no equivalent and was left out, and what is worth knowing. */
  readonly notes: readonly ConversionNote[];
  /** How many prompts it has, of which one is converted. */
  readonly prompts?: number;
  /** True if no provider that it names is known. */
  readonly isWithoutModel?: boolean;
  /** What is known of each of its cases besides its text. */
  readonly cases?: readonly ConvertedCase[];
  /** How many cases are left out. */
  readonly leftOut?: number;
  /** True if the prompt that was chosen can't be expressed, so that its cases are left out. */
  readonly isPromptLeftOut?: boolean;
  /** The program that makes the prompt of each case, if the prompt is one. */
  readonly program?: PromptProgram;
}

export interface ConvertedCase {
  /** In the file that is converted. */
  readonly line: number;
  /** How many of its checks are left out. */
  readonly leftOut: number;
  readonly vars: Readonly<Record<string, JsonValue>>;
}

/** A program that is called with a case's variables and prints a prompt. */
export interface PromptProgram {
  readonly argv: readonly [string, ...string[]];
  /** What begins the file of a prompt that it makes. */
  readonly head: JsonObject;
  /** Inputs that the prompt need not use. */
  readonly optional: readonly string[];
  readonly line: number;
}

export interface ConversionNote {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  /** True if it changes nothing that is tested. */
  readonly isHarmless?: boolean;
  /** True if it is carried out once programs and addresses are allowed. */
  readonly needsCommands?: boolean;
}

export interface ConvertOptions {
  /** The names of settings that providers understand. */
  readonly settings: readonly string[];
  /** That of the file, absolute; what it names is found from there. */
  readonly directory: string;
  /** Which of several prompts, from 1; default the first. */
  readonly prompt?: number | undefined;
  /** Whether it may name files outside its folder; default false. */
  readonly allowOutside?: boolean | undefined;
  /** True to run the tests as they are, not to write them down; default false. */
  readonly isForTest?: boolean;
  /** Whether programs and addresses may be run; default false. */
  readonly allowCommands?: boolean;
  /** Names of models that stand for something else already. */
  readonly taken?: readonly string[];
}

/** A test file of ours, as it is written. */
export interface TestFileText {
  readonly model?: string;
  readonly models?: readonly (string | JsonObject)[];
  readonly transform?: string;
  /** Whether expectations see answers without blank space at their ends. */
  readonly trim?: boolean;
  readonly cases: readonly TestCaseText[];
}

export interface TestCaseText {
  readonly name: string;
  /** As texts, whatever they begin with. */
  readonly inputs: Readonly<Record<string, string>>;
  /** What expectations alone see. */
  readonly vars?: Readonly<Record<string, JsonValue>>;
  readonly transform?: string | undefined;
  readonly judge?: string | undefined;
  readonly repeat?: number | undefined;
  readonly expect: readonly JsonObject[];
}

/** What is worth knowing of an expectation that a model judges. */
export const JUDGED = 'judged by the model that `promptrun test --judge` names';

/** What a prompt file says of its inputs, beside those that stand in its template. */
export interface InputsText {
  /** Those that tags use. */
  readonly used?: readonly string[];
  /** Those that a run need not give. */
  readonly optional?: readonly string[];
  /** Those that have a default, which a run need not give either. */
  readonly defaults?: Readonly<Record<string, string>>;
}

/** The text of a prompt file. Its inputs are in JSON Schema, in which they may have any name. */
export function promptFileText(
  { output, ...head }: JsonObject,
  body: readonly Piece[],
  { used = [], optional = [], defaults = {} }: InputsText = {},
): string {
  const names = [...new Set([...inputsIn(body), ...used, ...optional])];
  const properties = Object.fromEntries(names.map(name => [name, { type: 'string' }]));
  const required = names.filter(name => !optional.includes(name) && !Object.hasOwn(defaults, name));
  const known = Object.entries(defaults).filter(([name]) => names.includes(name));
  const input = {
    schema: { type: 'object', properties, required },
    ...(known.length > 0 && { default: Object.fromEntries(known) }),
  };
  const written = {
    ...head,
    ...(names.length > 0 && { input }),
    ...(output !== undefined && { output }),
  };
  return `---\n${stringify(written, { lineWidth: 0 })}---\n${asTemplate(body)}\n`;
}

/** A body whose last blanks are text, not the layout that blanks at the end of a file are. */
export function ended(body: readonly Piece[]): readonly Piece[] {
  const last = body.at(-1);
  return last && 'text' in last && /\s$/u.test(last.text) ? [...body, END] : body;
}

/** The text of a models file. */
export function modelsFileText(models: readonly JsonObject[], providers: JsonObject = {}): string {
  const named = Object.keys(providers).length > 0 && { providers };
  return stringify({ ...named, ...(models.length > 0 && { models }) }, { lineWidth: 0 });
}

/** The text of a test file. */
export function testFileText({ model, models, transform, trim, cases }: TestFileText): string {
  const written: JsonObject = {
    ...(model !== undefined && { model }),
    ...(models && { models }),
    ...(transform !== undefined && { transform }),
    ...(trim && { trim }),
    cases: cases.map(({ name, inputs, vars = {}, transform, judge, repeat, expect }) => ({
      name,
      ...(Object.keys(inputs).length > 0 && { inputs: literal(inputs) }),
      ...(Object.keys(vars).length > 0 && { vars }),
      ...(transform !== undefined && { transform }),
      ...(judge !== undefined && { judge }),
      ...(repeat !== undefined && { repeat }),
      ...(expect.length > 0 && { expect }),
    })),
  };
  return stringify(written, { lineWidth: 0 });
}

/** A text that begins with `@` would name a file. */
function literal(inputs: Readonly<Record<string, string>>): JsonObject {
  const entries = Object.entries(inputs).map(([key, text]): [string, JsonValue] => [
    key,
    text.startsWith('@') ? `@${text}` : text,
  ]);
  return Object.fromEntries(entries);
}
