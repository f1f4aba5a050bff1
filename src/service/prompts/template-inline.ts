import { FileFault } from '../files/yaml-file.ts';
import type { CompileContext } from './template-context.ts';
import { ROLES, type Role, type TemplateNode, type TemplateValue } from './template-node.ts';

/** What stands between two braces: a value, a picture, a role. */
export function inlineHelper(statement: hbs.AST.MustacheStatement, context: CompileContext): TemplateNode[] {
  const { path, params, hash } = statement;
  if (!isPath(path)) return [{ kind: 'value', value: literal(path) }];
  if (params.length === 0 && !hash) return plainName(path, context);
  switch (path.original) {
    case 'media':
      return [image(statement, context)];
    case 'role':
      return [{ kind: 'role', role: roleOf(statement) }];
    case 'json':
      return [{ kind: 'value', value: { kind: 'json', value: onlyParam(statement, context) } }];
    default:
      throw unknownHelper(path);
  }
}

/** A parameter as a value: a name or something written out. */
export function paramValue(
  expression: hbs.AST.Expression,
  context: CompileContext,
  shown = false,
): TemplateValue {
  if (isPath(expression)) return context.scope.value(expression, shown);
  return literal(expression);
}

export function unknownHelper(path: hbs.AST.PathExpression): FileFault {
  return new FileFault(
    path.loc.start.line,
    `the helper \`${path.original}\` is not known: there are if, unless, each, with, ifEquals, unlessEquals, media, role and json`,
  );
}

export function isPath(expression: hbs.AST.Expression): expression is hbs.AST.PathExpression {
  return expression.type === 'PathExpression';
}

/** `{{history}}` marks where earlier messages go; a run has none. */
function plainName(path: hbs.AST.PathExpression, context: CompileContext): TemplateNode[] {
  if (path.original === 'history' && !context.declares('history')) return [];
  return [{ kind: 'value', value: context.scope.value(path, true) }];
}

function literal(expression: hbs.AST.Expression): TemplateValue {
  if (!('value' in expression)) {
    throw new FileFault(expression.loc.start.line, 'only names, texts and numbers can stand here');
  }
  return { kind: 'literal', text: String(expression.value) };
}

function image({ path, params, hash }: hbs.AST.MustacheStatement, context: CompileContext): TemplateNode {
  const { line } = path.loc.start;
  const url = hash?.pairs.find(pair => pair.key === 'url')?.value;
  if (params.length > 0 || !url || !isPath(url)) {
    throw new FileFault(line, 'a picture is written {{media url=field}}, where `field` names the input');
  }
  const key = context.scope.inputName(url);
  context.onImage(key, line);
  return { kind: 'image', key };
}

/** A role is written out, so that no input can choose it. */
function roleOf({ path, params, hash }: hbs.AST.MustacheStatement): Role {
  const [param] = params;
  const name = param?.type === 'StringLiteral' ? (param as hbs.AST.StringLiteral).value : undefined;
  const role = ROLES.find(known => known === (name === 'assistant' ? 'model' : name));
  if (role && params.length === 1 && !hash) return role;
  throw new FileFault(
    path.loc.start.line,
    'a role is written {{role "system"}}, {{role "user"}} or {{role "model"}}',
  );
}

function onlyParam({ path, params }: hbs.AST.MustacheStatement, context: CompileContext): TemplateValue {
  const [param] = params;
  if (param && params.length === 1) return paramValue(param, context, true);
  throw new FileFault(path.loc.start.line, '`json` takes one value');
}
