import type { Options, ValidateFunction } from 'ajv';
import type { Change } from 'diff';
import type { JsonObject } from '../../files/formats/json.ts';
import type { SchemaMismatch } from '../../prompts/schemas/mismatch.ts';
import { MAX_JSON, parseBoundedJson } from '../../utils/bounded-json.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { ExpressionFault, SelectedText } from '../../utils/jmespath.ts';
import type { JavaScript, JavaScriptInput, JavaScriptResult } from './load-javascript.ts';

/** The reason that a schema can't be used. */
export interface SchemaFault {
  readonly message: string;
  /** The JSON Pointer of a reference that leads back to itself, if that is the reason. */
  readonly loop?: string;
}

/**
 * A piece of two texts: in both, only in the first, or only in the second; or a summary of all of
 * them.
 */
export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added' | 'note';
  readonly text: string;
}

/**
 * The tasks that run in a separate process, because the text and the rule may be untrusted.
 */
export interface CheckTasks {
  /** Returns the reason that a schema can't be used; undefined if it can. */
  readonly findSchemaFault: (schema: object | boolean) => SchemaFault | undefined;
  /** Returns the first mismatch of a value with a valid schema; undefined if it matches. */
  readonly findSchemaMismatch: (
    schema: object | boolean,
    value: unknown,
  ) => SchemaMismatch | undefined;
  /**
   * Returns true if a text contains a JSON value that matches the schema; without a schema, any
   * object or array.
   */
  readonly containsJson: (text: string, schema: object | boolean | undefined) => boolean;
  /**
   * Returns true if a text contains an object that matches the schema as promptfoo reads it, or
   * such a JSON array.
   */
  readonly containsLooseJson: (text: string, schema: object | boolean) => boolean;
  /** Returns true if a regular expression matches a text. */
  readonly matches: (source: string, flags: string, text: string) => boolean;
  /** Returns the fault of a JMESPath expression; undefined if it can be evaluated. */
  readonly findExpressionFault: (expression: string) => ExpressionFault | undefined;
  /** Evaluates a JMESPath expression. */
  readonly evaluateExpression: (expression: string, value: unknown, indent: number) => SelectedText;
  /** Runs JavaScript on an answer. */
  readonly runJavaScript: (script: JavaScript, input: JavaScriptInput) => JavaScriptResult;
  /** Runs JavaScript that renders templates, which takes longer than checks. */
  readonly renderTemplates: CheckTasks['runJavaScript'];
  /** Returns the differences of two texts; undefined if more than 2,000 lines differ. */
  readonly compareTexts: (
    first: string,
    second: string,
    unit: 'words' | 'lines',
  ) => DiffPart[] | undefined;
}

export type CheckName = keyof CheckTasks;

/** A task and its arguments. */
export type CheckWork = {
  [N in CheckName]: { readonly name: N; readonly args: Parameters<CheckTasks[N]> };
}[CheckName];

const CHECK_TIMEOUT_MS = 2000;

/** Loading a template engine alone takes a second on a busy machine. */
const RENDERING_TIMEOUT_MS = 20_000;

const CHECK = { subject: 'the check', timeMs: CHECK_TIMEOUT_MS, isExpression: false };
const EXPRESSION = { subject: 'the expression', timeMs: CHECK_TIMEOUT_MS, isExpression: true };

/** The limits of each task, and the beginning of the message if they are exceeded. */
export const CHECK_LIMITS: { readonly [N in CheckName]: typeof CHECK } = {
  findSchemaFault: CHECK,
  findSchemaMismatch: CHECK,
  containsJson: CHECK,
  containsLooseJson: CHECK,
  matches: CHECK,
  compareTexts: { ...CHECK, subject: 'the comparison' },
  findExpressionFault: EXPRESSION,
  evaluateExpression: EXPRESSION,
  runJavaScript: { ...CHECK, subject: 'the JavaScript' },
  renderTemplates: { ...CHECK, subject: 'rendering', timeMs: RENDERING_TIMEOUT_MS },
};

/**
 * Maximum number of differing lines to show; more are only counted, because finding the fewest
 * takes quadratic time.
 */
const MAX_COMPARED_LINES = 2000;

/** Maximum length of a text to compare by words; longer texts are compared by lines. */
const MAX_LENGTH_BY_WORDS = 50_000;

/** Loads each task with its dependencies, so that loading doesn't count against its time. */
export const TASK_LOADERS: { readonly [N in CheckName]: () => Promise<CheckTasks[N]> } = {
  findSchemaFault: loadSchemaFaultFinder,
  findSchemaMismatch: async () => {
    const { pickFirstMismatch } = await import('../../prompts/schemas/mismatch.ts');
    const { compile } = await loadSchemaCompilers();
    const compiledSchemas = new Map<string, ReturnType<typeof compile>>();

    return (schema, value) => {
      const key = JSON.stringify(schema);
      const validate = compiledSchemas.get(key) ?? compile(schema);
      compiledSchemas.set(key, validate);
      return validate(value) ? undefined : pickFirstMismatch(validate.errors);
    };
  },
  containsJson: async () => {
    const { compile } = await loadSchemaCompilers();
    return (text, schema = true) => {
      const validate = compile(schema);
      for (const value of iterateJsonValues(text)) {
        if (validate(value)) return true;
      }
      return false;
    };
  },
  containsLooseJson: async () => {
    const { compile } = await loadSchemaCompilers();
    const { iterateLooseObjects } = await import('./loose-json.ts');
    return (text, schema) => {
      const validate = compile(schema);
      for (const value of iterateLooseObjects(text)) {
        if (validate(value)) return true;
      }
      for (const value of iterateJsonValues(text)) {
        if (Array.isArray(value) && validate(value)) return true;
      }
      return false;
    };
  },
  matches: () => Promise.resolve((source, flags, text) => new RegExp(source, flags).test(text)),
  findExpressionFault: async () => (await import('../../utils/jmespath.ts')).findExpressionFault,
  evaluateExpression: async () => (await import('../../utils/jmespath.ts')).evaluateExpression,
  runJavaScript: async () => (await import('./load-javascript.ts')).loadJavaScript(),
  renderTemplates: async () => (await import('./load-javascript.ts')).loadJavaScript(),
  compareTexts: loadTextComparison,
};

async function loadSchemaFaultFinder(): Promise<CheckTasks['findSchemaFault']> {
  const { REFERENCE_LOOP_MESSAGE, findReferenceLoop } = await import(
    '../../prompts/schemas/reference-loop.ts'
  );
  const { createCompiler, compile } = await loadSchemaCompilers();

  // Optimising the code of a dialect takes longer than the few checks that it makes.
  const createDialectCompiler = (name: SchemaDialect) =>
    createCompiler(name, { code: { optimize: false } });
  const dialects = {
    'draft-07': createDialectCompiler('draft-07'),
    '2020-12': createDialectCompiler('2020-12'),
  };

  // Compiles the usual dialect, which must not count against the schema.
  void dialects['2020-12'].validateSchema({});
  return schema => {
    const loop = findReferenceLoop(schema as JsonObject | boolean);
    if (loop !== undefined) {
      return { message: `${REFERENCE_LOOP_MESSAGE} (at ${JSON.stringify(loop)})`, loop };
    }
    try {
      void dialects[chooseDialect(schema)].validateSchema(schema, true);
      compile(schema);
      return undefined;
    } catch (error) {
      return { message: getErrorMessage(error) };
    }
  };
}

async function loadTextComparison(): Promise<CheckTasks['compareTexts']> {
  const { diffLines, diffWordsWithSpace } = await import('diff');
  return (first, second, unit) => {
    const diffOptions = { maxEditLength: 2 * MAX_COMPARED_LINES };
    const isByWords = unit === 'words' && first.length + second.length <= MAX_LENGTH_BY_WORDS;
    const wordChanges = isByWords ? diffWordsWithSpace(first, second, diffOptions) : undefined;
    const changes = wordChanges ?? diffLines(first, second, diffOptions);
    if (changes === undefined) return undefined;

    const countLines = (kind: DiffPart['kind']): number =>
      changes.reduce((sum, change) => sum + (getChangeKind(change) === kind ? change.count : 0), 0);
    const differenceCount = isByWords ? 0 : Math.max(countLines('added'), countLines('removed'));
    if (differenceCount > MAX_COMPARED_LINES) return undefined;
    return changes.map(change => ({ kind: getChangeKind(change), text: change.value }));
  };
}

function getChangeKind(change: Pick<Change, 'added' | 'removed'>): DiffPart['kind'] {
  if (change.added) return 'added';
  return change.removed ? 'removed' : 'same';
}

type SchemaDialect = 'draft-07' | '2020-12';

function chooseDialect(schema: object | boolean): SchemaDialect {
  const name = typeof schema === 'object' && '$schema' in schema ? String(schema['$schema']) : '';
  return name.includes('draft-07') ? 'draft-07' : '2020-12';
}

/**
 * Loads the compilers of schemas. `compile` expects a schema in which `findSchemaFault` found none.
 */
async function loadSchemaCompilers() {
  const { default: formats } = await import('ajv-formats');
  const { Ajv } = await import('ajv');
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const createCompiler = (dialect: SchemaDialect, extraOptions: Options) => {
    const options = { strict: false, allErrors: false, logger: false, ...extraOptions } as const;
    return formats.default(dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options));
  };

  // Each schema has its own compiler, so that names in it can't meet another's.
  const compile = (schema: object | boolean): ValidateFunction =>
    createCompiler(chooseDialect(schema), { validateSchema: false }).compile(schema);
  return { createCompiler, compile };
}

/**
 * Yields the JSON values in a text: the whole text, then every object and array, nested ones too.
 */
function* iterateJsonValues(text: string): Generator {
  yield* parseIfJson(text);
  for (const { index: start } of text.matchAll(/[[{]/gu)) {
    yield* parseIfJson(text.slice(start, findValueEnd(text, start)));
  }
}

/** Returns the value of a text; none if it is not JSON or above the limits. */
function parseIfJson(text: string): unknown[] {
  try {
    return [parseBoundedJson(text, MAX_JSON)];
  } catch {
    return [];
  }
}

/** Matches a string of JSON, even an unclosed one, or a bracket outside of strings. */
const STRING_OR_BRACKET = /"(?:[^"\\]|\\.)*"?|[[\]{}]/gsu;

/**
 * Returns the end of the object or array that begins at `start`; `start` itself if it never ends.
 */
function findValueEnd(text: string, start: number): number {
  // A copy, because `lastIndex` is a state of the pattern.
  const pattern = new RegExp(STRING_OR_BRACKET);
  pattern.lastIndex = start;

  let depth = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [token] = match;
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth === 0) return pattern.lastIndex;
  }

  return start;
}
