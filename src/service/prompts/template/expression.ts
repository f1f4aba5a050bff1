import { type CompileContext, type FieldUse, reportFault, reportNote } from './context.ts';
import type { Expression } from './node.ts';

type Path = hbs.AST.PathExpression;

const NOTHING: Expression = { kind: 'literal' };

export function isPath(expression: hbs.AST.Node): expression is Path {
  return expression.type === 'PathExpression';
}

/** A name, something written out, or a helper in parentheses, as a value. */
export function compileExpression(
  expression: hbs.AST.Expression,
  context: CompileContext,
  as: FieldUse['as'] = 'test',
): Expression {
  if (isPath(expression)) return compilePath(expression, context, as);
  if (expression.type === 'SubExpression') {
    return compileCall(expression as hbs.AST.SubExpression, context, as);
  }
  const { value } = expression as hbs.AST.StringLiteral;
  return expression.type === 'UndefinedLiteral' ? NOTHING : { kind: 'literal', value };
}

/** `lookup` and `json` give values; every other helper writes text. */
export function compileCall(
  call: hbs.AST.SubExpression | hbs.AST.MustacheStatement,
  context: CompileContext,
  as: FieldUse['as'],
): Expression {
  const { path, params, hash } = call;
  const name = isPath(path) ? path.original : '';
  const [first, second] = params;
  if (name === 'lookup' && first && second && params.length === 2) {
    const object = compileExpression(first, context, as);
    return { kind: 'lookup', object, key: compileExpression(second, context) };
  }
  if (name === 'json' && first && params.length === 1) {
    const indent = hash?.pairs.find(({ key }) => key === 'indent')?.value;
    const value = compileExpression(first, context, as);
    return { kind: 'json', value, ...(indent && { indent: compileExpression(indent, context) }) };
  }
  const takes = name === 'lookup' ? 'two values' : name === 'json' ? 'one value' : undefined;
  if (takes) reportFault(context, call, `\`${name}\` takes ${takes}`);
  else reportUnknownHelper(context, path, name);
  return NOTHING;
}

export function reportUnknownHelper(context: CompileContext, node: hbs.AST.Node, name: string): void {
  const known =
    'if, unless, each, with, ifEquals, unlessEquals, media, role, history, section, json, lookup and log';
  reportFault(context, node, `the helper \`${name}\` is not known: there are ${known}`);
}

export function compilePath(path: Path, context: CompileContext, as: FieldUse['as']): Expression {
  const { depth, parts, data } = path;
  const meaning = context.scope.meaning(path);
  if (meaning.kind === 'param') {
    return { kind: 'param', up: meaning.up, nth: meaning.nth, parts: parts.slice(1) };
  }
  if (meaning.kind === 'inputs') context.onInputs();
  if (meaning.kind === 'input') {
    const { key, certain, whole } = meaning;
    const { line, column } = context.placeOf(path.loc);
    context.onUse({
      key,
      line,
      column,
      file: context.file,
      certain,
      as: whole || as !== 'image' ? as : 'text',
    });
  }
  if (meaning.kind === 'data' && !meaning.isKnown) {
    reportNote(context, path, `\`${path.original}\` has no value here: a run knows no such variable`);
  }
  if (meaning.kind === 'nowhere') {
    reportNote(context, path, `\`${path.original}\` leads out of the template, so it has no value`);
  }
  return { kind: data ? 'data' : 'path', up: depth, parts };
}
