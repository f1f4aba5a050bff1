import { MAX_JSON } from '../utils/bounded-json.ts';

/** Limits on what one prompt may use, so that it can't harm others. */
export const BOUNDS = {
  /** Maximum size of a prompt file and of each partial, in bytes. */
  fileBytes: 128 * 1024,
  /** Maximum size of another tool's file, in bytes. */
  foreignBytes: 8 * 1024 * 1024,
  /** Maximum number of cases in a test file. */
  cases: 100_000,
  /** Maximum number of expectations in all cases of a file. */
  checks: 1_000_000,
  /** Maximum number of partials of a prompt, and their total size in bytes. */
  partials: 100,
  partialBytes: 1024 * 1024,
  /** Maximum number of fields of a schema, nested ones included. */
  schemaFields: 1000,
  /** Maximum depth of nested blocks and `{{else}}` branches. */
  openBlocks: 100,
  /** Maximum depth of nested parentheses. */
  openParentheses: 50,
  /**
   * Maximum number of consecutive blanks; the template parser's time grows faster than their
   * number.
   */
  consecutiveBlanks: 4096,
  /** Maximum depth of partials while rendering. */
  renderDepth: 200,
  /** Maximum number of rendered statements, counted in each turn of a loop. */
  renderSteps: 1_000_000,
  /** Maximum size of a rendered prompt, in bytes. */
  outputBytes: 8 * 1024 * 1024,
  /** Time to read and check inputs and render a prompt, in milliseconds. */
  renderMs: 2000,
  /** Time to compile a template, in milliseconds: several times what the largest one takes. */
  compileMs: 8000,
  /** Time to check values against their schemas, in milliseconds. */
  checkMs: 1000,
  /**
   * Time to parse a prompt or test file, in milliseconds: several times what the largest one takes.
   */
  parseMs: 60_000,
  /** Memory of the process that runs long tasks, in MiB. */
  processMiB: 512,
  /** Maximum depth of lists and objects in an input value. */
  valueDepth: 200,
  /** Limits on JSON in inputs and in a model's answer. */
  json: MAX_JSON,
  /** Maximum length of a YAML input, in characters; JSON may be longer. */
  yamlInputLength: 128 * 1024,
} as const;
