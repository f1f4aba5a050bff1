import { stringify } from 'yaml';
import { findOwnValue, type JsonObject, type JsonValue } from '../../files/formats/json.ts';
import { END_MARK, formatPieces, listInputs, type Piece } from './template-pieces.ts';

/** The fields of a test file, before it is written. */
export interface TestFileParts {
  readonly model?: string;
  readonly models?: readonly (string | JsonObject)[];
  readonly transform?: string;
  /** True to trim answers before they are checked. */
  readonly trim?: boolean;
  readonly cases: readonly TestFileCase[];
}

/** A case of a test file, before it is written. */
export interface TestFileCase {
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

/** The inputs of a prompt file, in addition to those in its template. */
export interface InputDeclarations {
  /** Inputs that are used only within tags, such as a condition. */
  readonly usedInTags?: readonly string[];
  readonly optional?: readonly string[];
  /** Defaults by input; these inputs are optional too. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** JSON Schemas by input; default a text. */
  readonly schemas?: Readonly<Record<string, JsonObject>>;
}

/** Returns the text of a prompt file. Its inputs are in JSON Schema, which allows any name. */
export function formatPromptFile(
  { output, ...fields }: JsonObject,
  body: readonly Piece[],
  { usedInTags = [], optional = [], defaults = {}, schemas = {} }: InputDeclarations = {},
): string {
  const inputNames = [...new Set([...listInputs(body), ...usedInTags, ...optional])];
  const properties = Object.fromEntries(
    inputNames.map(name => [name, findOwnValue(schemas, name) ?? { type: 'string' }]),
  );
  const requiredNames = inputNames.filter(
    name => !optional.includes(name) && !Object.hasOwn(defaults, name),
  );
  const usedDefaults = Object.entries(defaults).filter(([name]) => inputNames.includes(name));
  const input = {
    schema: { type: 'object', properties, required: requiredNames },
    ...(usedDefaults.length > 0 && { default: Object.fromEntries(usedDefaults) }),
  };
  const frontMatter = {
    ...fields,
    ...(inputNames.length > 0 && { input }),
    ...(output !== undefined && { output }),
  };

  return `---\n${stringify(frontMatter, { lineWidth: 0 })}---\n${formatPieces(body)}\n`;
}

/**
 * Returns a body that keeps its trailing blanks, which are otherwise dropped at the end of a file.
 */
export function withEndMark(body: readonly Piece[]): readonly Piece[] {
  const last = body.at(-1);
  return last && 'text' in last && /\s$/u.test(last.text) ? [...body, END_MARK] : body;
}

/** Returns the text of a models file. */
export function formatModelsFile(
  models: readonly JsonObject[],
  providers: JsonObject = {},
): string {
  const providersField = Object.keys(providers).length > 0 && { providers };
  return stringify({ ...providersField, ...(models.length > 0 && { models }) }, { lineWidth: 0 });
}

/** Returns the content of a test file, without the fields that say nothing. */
export function buildTestFile({
  model,
  models,
  transform,
  trim,
  cases,
}: TestFileParts): JsonObject {
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

/** Returns the text of a test file. */
export function formatTestFile(content: JsonObject): string {
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
