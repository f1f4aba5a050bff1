import { isHelperBlock, isValueTag, pathOf } from './syntax.ts';

/** The names of the helpers that are put into a template; no template can know them. */
export interface AddedHelpers {
  /** Takes how many statements are about to be rendered, and the bytes of their text. */
  readonly count: string;
  /** Shows a value. */
  readonly value: string;
  /** A block of a value: `{{#name}}…{{/name}}`. */
  readonly block: string;
  /** Around a partial: takes its indentation and what is copied for its arguments. */
  readonly partial: string;
}

/**
 * A tree with helpers of ours around everything that a template shows and does, so that each value is written out by us
 * and each loop turn is counted, whatever the template is made of.
 */
export function instrument(
  program: hbs.AST.Program,
  names: AddedHelpers,
  declares: (key: string) => boolean,
): hbs.AST.Program {
  const { blockParams, loc } = program;
  const body = program.body.map(statement => new Instrumented(names, declares).statement(statement));
  return { type: 'Program', body: [countTag(program, names), ...body], blockParams, loc };
}

class Instrumented {
  readonly #names: AddedHelpers;
  readonly #declares: (key: string) => boolean;

  constructor(names: AddedHelpers, declares: (key: string) => boolean) {
    this.#names = names;
    this.#declares = declares;
  }

  statement(statement: hbs.AST.Statement): hbs.AST.Statement {
    switch (statement.type) {
      case 'MustacheStatement':
        return this.#mustache(statement as hbs.AST.MustacheStatement);
      case 'BlockStatement':
        return this.#block(statement as hbs.AST.BlockStatement);
      case 'DecoratorBlock':
        return this.#inside(statement as hbs.AST.DecoratorBlock);
      case 'PartialBlockStatement':
        return aroundPartial(this.#inside(statement as hbs.AST.PartialBlockStatement), this.#names.partial);
      case 'PartialStatement':
        return aroundPartial(statement as hbs.AST.PartialStatement, this.#names.partial);
      default:
        return statement;
    }
  }

  #mustache(tag: hbs.AST.MustacheStatement): hbs.AST.MustacheStatement {
    const value = valueOf(tag, this.#declares);
    if (!value) return tag;
    const { hash: _, ...shown } = tag;
    return { ...shown, ...call(this.#names.value, tag, [value]) } as hbs.AST.MustacheStatement;
  }

  #block(block: hbs.AST.BlockStatement): hbs.AST.BlockStatement {
    const counted = this.#inside(block);
    if (counted.inverse) {
      counted.inverse = instrument(counted.inverse, this.#names, this.#declares);
      counted.inverseStrip ??= NO_STRIP;
    }
    return isHelperBlock(block) ? counted : { ...counted, ...call(this.#names.block, block, [block.path]) };
  }

  /** An empty block is counted too. */
  #inside<T extends hbs.AST.BlockStatement | hbs.AST.DecoratorBlock | hbs.AST.PartialBlockStatement>(
    block: T,
  ): T {
    const program = (block.program as hbs.AST.Program | undefined) ?? emptyProgram(block);
    return { ...block, program: instrument(program, this.#names, this.#declares) };
  }
}

/** What a tag shows; undefined for one that is a mark. */
function valueOf(
  tag: hbs.AST.MustacheStatement,
  declares: (key: string) => boolean,
): hbs.AST.Expression | undefined {
  if (isValueTag(tag, declares)) return pathOf(tag.path);
  const name = pathOf(tag.path).original;
  return name === 'json' || name === 'lookup' ? { ...tag, type: 'SubExpression' } : undefined;
}

const NO_STRIP: hbs.AST.StripFlags = { open: false, close: false };

function emptyProgram({ loc }: hbs.AST.Node): hbs.AST.Program {
  return { type: 'Program', body: [], blockParams: [], loc };
}

function countTag(program: hbs.AST.Program, { count }: AddedHelpers): hbs.AST.Statement {
  const written = program.body.map(part =>
    part.type === 'ContentStatement' ? Buffer.byteLength((part as hbs.AST.ContentStatement).value) : 0,
  );
  const bytes = written.reduce((sum, size) => sum + size, 0);
  return mustache(count, program, [number(program.body.length + 1, program), number(bytes, program)]);
}

/** With arguments of its own a partial gets a copy of its context. */
function aroundPartial(
  partial: hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement,
  name: string,
): hbs.AST.Statement {
  const { loc, params, hash } = partial;
  const indent = 'indent' in partial ? partial.indent : '';
  const nothing: hbs.AST.UndefinedLiteral = { type: 'UndefinedLiteral', loc };
  const copied = hash ? (params[0] ?? pathExpression('this', [], partial)) : nothing;
  const unindented = { ...partial, indent: '' };
  return {
    type: 'BlockStatement',
    ...call(name, partial, [text(indent, partial), copied]),
    program: { ...emptyProgram(partial), body: [unindented] },
    openStrip: NO_STRIP,
    closeStrip: NO_STRIP,
    loc,
  } as unknown as hbs.AST.BlockStatement;
}

function mustache(name: string, at: hbs.AST.Node, params: hbs.AST.Expression[]): hbs.AST.Statement {
  const { loc } = at;
  const node = { type: 'MustacheStatement', ...call(name, at, params), escaped: true, strip: NO_STRIP, loc };
  return node;
}

function call(
  name: string,
  at: hbs.AST.Node,
  params: hbs.AST.Expression[],
): { path: hbs.AST.PathExpression; params: hbs.AST.Expression[] } {
  return { path: pathExpression(name, [name], at), params };
}

function pathExpression(original: string, parts: string[], { loc }: hbs.AST.Node): hbs.AST.PathExpression {
  return { type: 'PathExpression', data: false, depth: 0, parts, original, loc };
}

function number(value: number, { loc }: hbs.AST.Node): hbs.AST.NumberLiteral {
  return { type: 'NumberLiteral', value, original: value, loc };
}

function text(value: string, { loc }: hbs.AST.Node): hbs.AST.StringLiteral {
  return { type: 'StringLiteral', value, original: value, loc };
}
