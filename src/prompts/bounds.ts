import { LARGEST_JSON } from '../wire/bounded-json.ts';

/** What one prompt may use up, so that it harms no other (the bounds of the local service). */
export const BOUNDS = {
  /** Bytes of a prompt file, and of each partial. */
  fileBytes: 128 * 1024,
  /** Bytes of a file of another form. */
  foreignBytes: 8 * 1024 * 1024,
  /** Cases of one file of tests. */
  cases: 100_000,
  /** Evaluators of all cases of one file. */
  checks: 1_000_000,
  /** Partials of a prompt, and bytes of all of them. */
  partials: 100,
  partialBytes: 1024 * 1024,
  /** Fields of a schema, nested ones included. */
  schemaFields: 1000,
  /** Blocks and `{{else}}` branches that stand open inside each other. */
  openBlocks: 100,
  /** Parentheses that stand open inside each other. */
  openParentheses: 50,
  /** Blanks in a row; more take the template's parser ever longer. */
  blanksInARow: 4096,
  /** Partials that are inside each other while a prompt is rendered. */
  renderDepth: 200,
  /** Statements rendered, in every turn of a loop. */
  renderSteps: 1_000_000,
  /** Bytes of all that a rendered prompt says. */
  outputBytes: 8 * 1024 * 1024,
  /** For rendering a prompt, its inputs read and checked, and for checking values against a schema, in milliseconds. */
  renderMs: 2000,
  /** For compiling the largest template before it is rendered, in milliseconds: several times what that takes. */
  compileMs: 8000,
  checkMs: 1000,
  /** For reading a file of prompts or tests, in milliseconds: several times what the largest one takes. */
  parseMs: 60_000,
  /** Memory of the process that does what takes long, in MiB. */
  processMiB: 512,
  /** Lists and objects inside each other in a value that is given as an input. */
  valueDepth: 200,
  /** Of JSON that is given as an input, and of a model's answer. */
  json: LARGEST_JSON,
  /** Characters of an input that is given as YAML; JSON may be longer. */
  yamlInput: 128 * 1024,
} as const;
