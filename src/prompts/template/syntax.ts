import type { FilePosition } from '../../files/formats/file-fault.ts';

/** The helpers of the language and the exact number of their values; `log` takes any number. */
export const HELPERS: {
  readonly [name: string]: { readonly isBlock?: boolean; readonly valueCount: number };
} = {
  if: { isBlock: true, valueCount: 1 },
  unless: { isBlock: true, valueCount: 1 },
  each: { isBlock: true, valueCount: 1 },
  with: { isBlock: true, valueCount: 1 },
  ifEquals: { isBlock: true, valueCount: 2 },
  unlessEquals: { isBlock: true, valueCount: 2 },
  media: { valueCount: 0 },
  role: { valueCount: 1 },
  history: { valueCount: 0 },
  section: { valueCount: 1 },
  json: { valueCount: 1 },
  lookup: { valueCount: 2 },
  word: { valueCount: 2 },
  log: { valueCount: Number.POSITIVE_INFINITY },
};

const ROLES = ['system', 'user', 'model'] as const;
export type Role = (typeof ROLES)[number];

/** Returns the role of this name; the model's role has two names. */
export function findRole(name: unknown): Role | undefined {
  return ROLES.find(role => role === (name === 'assistant' ? 'model' : name));
}

/**
 * Returns the text of a partial, or why it can't be used; undefined if there is none of that name.
 */
export type PartialLookup = (name: string) => PartialText | { readonly fault: string } | undefined;

interface PartialText {
  /** The file's name in messages. */
  readonly file: string;
  readonly text: string;
}

export function isPath(node: hbs.AST.Node): node is hbs.AST.PathExpression {
  return node.type === 'PathExpression';
}

export function isStringLiteral(node: hbs.AST.Node | undefined): node is hbs.AST.StringLiteral {
  return node?.type === 'StringLiteral';
}

/** Returns the path of a tag; `{{"first name"}}` is the field of that name. */
export function toTagPath(path: hbs.AST.PathExpression | hbs.AST.Literal): hbs.AST.PathExpression {
  if (isPath(path)) return path;
  const { original, loc } = path as hbs.AST.StringLiteral | hbs.AST.NumberLiteral;
  const name = String(original);
  return { type: 'PathExpression', loc, data: false, depth: 0, parts: [name], original: name };
}

/** Returns true if a tag shows a value. A bare name does, even if a helper has that name. */
export function isValueTag(
  { path, params, hash }: hbs.AST.MustacheStatement,
  declares: (key: string) => boolean,
): boolean {
  if (params.length > 0 || hash) return false;
  const name = toTagPath(path).original;
  return (name !== 'history' && name !== 'log') || declares(name);
}

/** Returns true if a block calls a helper; `{{#name}}…{{/name}}` is the block of a value. */
export function isHelperBlock({ path, params, hash }: hbs.AST.BlockStatement): boolean {
  const isKnown = Object.hasOwn(HELPERS, path.original) && HELPERS[path.original]?.isBlock === true;
  return isKnown || params.length > 0 || hash !== undefined;
}

/**
 * Returns the name of an inline partial, `{{#*inline "name"}}`; undefined for any other statement.
 */
export function findInlineName(statement: hbs.AST.Statement): string | undefined {
  if (statement.type !== 'DecoratorBlock') return undefined;
  const { path, params } = statement as hbs.AST.DecoratorBlock;
  const [name] = params;
  return path.original === 'inline' && isStringLiteral(name) ? name.value : undefined;
}

/** A use of an input in a template. */
export interface FieldUse extends FilePosition {
  readonly key: string;
  /** True if the template places it as an image. */
  readonly isImage: boolean;
  /** The file of the use: the prompt's or a partial's. */
  readonly file: string;
  /**
   * False inside a block such as `{{#name}}`, where only the value of `name` decides whose field it
   * is.
   */
  readonly isCertain: boolean;
}
