import Handlebars from 'handlebars';
import { isHelperBlock, isValueTag, toTagPath } from './syntax.ts';

/** The names of the helpers that are inserted into a template; no template can guess them. */
export interface AddedHelpers {
  /** Counts the statements about to be rendered and the bytes of their text. */
  readonly count: string;
  readonly value: string;
  /** Renders the block of a value: `{{#name}}…{{/name}}`. */
  readonly block: string;
  /** Wraps a partial: its indentation, and the context that is copied for its arguments. */
  readonly partial: string;
}

/**
 * Wraps everything in a template in our own helpers, so that they write every value and count every
 * loop turn.
 */
export function instrument(
  program: hbs.AST.Program,
  names: AddedHelpers,
  declares: (key: string) => boolean,
): hbs.AST.Program {
  new Instrumenter(names, declares).accept(program);
  return program;
}

type BlockBody = { program: hbs.AST.Program | undefined; loc: hbs.AST.SourceLocation };

class Instrumenter extends Handlebars.Visitor {
  /** The node that a method returns replaces the visited one. */
  readonly mutating = true;
  readonly #names: AddedHelpers;
  readonly #declares: (key: string) => boolean;

  constructor(names: AddedHelpers, declares: (key: string) => boolean) {
    super();
    this.#names = names;
    this.#declares = declares;
  }

  override Program(program: hbs.AST.Program): void {
    const { body } = program;
    const bytes = body.reduce((sum, part) => sum + countContentBytes(part), 0);
    super.Program(program);
    // An `{{else if}}` is no longer the only statement of its program.
    Object.assign(program, { chained: false });
    body.unshift(parseStatement(`{{[${this.#names.count}] ${body.length + 1} ${bytes}}}`));
  }

  override MustacheStatement(tag: hbs.AST.MustacheStatement): hbs.AST.MustacheStatement {
    const value = findShownValue(tag, this.#declares);
    return value ? { ...tag, ...buildHelperCall(this.#names.value, value) } : tag;
  }

  override BlockStatement(block: hbs.AST.BlockStatement): hbs.AST.BlockStatement {
    this.#visitBody(block);
    if (block.inverse) {
      this.acceptKey(block, 'inverse');
      block.inverseStrip ??= { open: false, close: false };
    }
    return isHelperBlock(block)
      ? block
      : { ...block, ...buildHelperCall(this.#names.block, block.path) };
  }

  override DecoratorBlock(block: hbs.AST.DecoratorBlock): void {
    this.#visitBody(block);
  }

  override PartialStatement(partial: hbs.AST.PartialStatement): hbs.AST.Statement {
    return this.#wrapPartial(partial, partial.indent);
  }

  override PartialBlockStatement(partial: hbs.AST.PartialBlockStatement): hbs.AST.Statement {
    this.#visitBody(partial);
    return this.#wrapPartial(partial, '');
  }

  /** Counts empty blocks too. */
  #visitBody(block: BlockBody): void {
    block.program ??= { type: 'Program', body: [], blockParams: [], loc: block.loc };
    this.acceptKey(block as unknown as hbs.AST.Node, 'program');
  }

  /** Wraps a partial. One with arguments gets a copy of its context. */
  #wrapPartial(
    partial: hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement,
    indent: string,
  ): hbs.AST.Statement {
    const name = `[${this.#names.partial}]`;
    const copiedContext = partial.hash ? 'this' : 'undefined';
    const wrapper = parseStatement(
      `{{#${name} "${indent}" ${copiedContext}}}{{/${name}}}`,
    ) as hbs.AST.BlockStatement;
    const [param] = partial.params;
    if (partial.hash && param) wrapper.params[1] = param;
    const unindented = { ...partial, indent: '' };
    wrapper.program.body = [unindented];

    return wrapper;
  }
}

/** Returns the value that a tag shows; undefined for a marker tag. */
function findShownValue(
  tag: hbs.AST.MustacheStatement,
  declares: (key: string) => boolean,
): hbs.AST.Expression | undefined {
  if (isValueTag(tag, declares)) return toTagPath(tag.path);
  const name = toTagPath(tag.path).original;
  return name === 'json' || name === 'lookup' ? { ...tag, type: 'SubExpression' } : undefined;
}

function countContentBytes(part: hbs.AST.Statement): number {
  return part.type === 'ContentStatement'
    ? Buffer.byteLength((part as hbs.AST.ContentStatement).value)
    : 0;
}

/** Returns the fields that make a tag the call of a helper with one value. */
function buildHelperCall(name: string, value: hbs.AST.Expression) {
  const { path } = parseStatement(`{{[${name}]}}`) as hbs.AST.MustacheStatement;
  return { path: toTagPath(path), params: [value], hash: undefined as unknown as hbs.AST.Hash };
}

/** Parses a template that consists of one statement. */
function parseStatement(template: string): hbs.AST.Statement {
  const [only] = Handlebars.parse(template).body;
  if (!only) throw new Error(`${template} has no statement`);
  return only;
}
