import { type CompileContext, reportFault, reportNote } from './context.ts';
import { compileCall, compileExpression, compilePath, isPath, reportUnknownHelper } from './expression.ts';
import { ROLES, type Role, type TemplateNode } from './node.ts';

type Mustache = hbs.AST.MustacheStatement;

/** What stands between two braces: a value, a picture, a role. */
export function compileMustache(statement: Mustache, context: CompileContext): TemplateNode[] {
  const { params, hash } = statement;
  const path = asPath(statement.path);
  if (params.length === 0 && !hash && (!isMarker(path) || context.declares(path.original))) {
    return [{ kind: 'value', value: compilePath(path, context, 'text') }];
  }
  switch (path.original) {
    case 'media':
      return compileMedia(statement, context);
    case 'role':
      return compileRole(statement, context);
    case 'history':
      return [{ kind: 'history' }];
    case 'section':
      return compileSection(statement, context);
    case 'log':
      for (const param of params) compileExpression(param, context);
      return [];
    case 'json':
    case 'lookup':
      return [{ kind: 'value', value: compileCall(statement, context, 'text') }];
    default:
      reportUnknownHelper(context, path, path.original);
      return [];
  }
}

/** `{{"first name"}}` is the field of that name. */
function asPath(path: hbs.AST.PathExpression | hbs.AST.Literal): hbs.AST.PathExpression {
  if (isPath(path)) return path;
  const { original, loc } = path as hbs.AST.StringLiteral | hbs.AST.NumberLiteral;
  const name = String(original);
  return { type: 'PathExpression', loc, data: false, depth: 0, parts: [name], original: name };
}

/** Helpers that need nothing beside their name. */
function isMarker({ original }: hbs.AST.PathExpression): boolean {
  return original === 'history' || original === 'log';
}

function compileMedia(statement: Mustache, context: CompileContext): TemplateNode[] {
  const pair = (name: string): hbs.AST.Expression | undefined =>
    statement.hash?.pairs.find(({ key }) => key === name)?.value;
  const [url, contentType] = [pair('url'), pair('contentType')];
  if (!url || statement.params.length > 0) {
    reportFault(
      context,
      statement,
      'a picture is written {{media url=field}}, where `field` names the input',
    );
    return [];
  }
  const isField = isPath(url) && context.scope.meaning(url).kind === 'input';
  if (!isField) {
    const note = 'a run takes pictures from inputs of their own, as in {{media url=field}}, and `data:` URLs';
    reportNote(context, url, note);
  }
  const node = { kind: 'media', url: compileExpression(url, context, 'image') } as const;
  return [contentType ? { ...node, contentType: compileExpression(contentType, context) } : node];
}

/** A role is written out, so that no input can choose it. */
function compileRole(statement: Mustache, context: CompileContext): TemplateNode[] {
  const [param] = statement.params;
  const name = param?.type === 'StringLiteral' ? (param as hbs.AST.StringLiteral).value : undefined;
  const role: Role | undefined = ROLES.find(known => known === (name === 'assistant' ? 'model' : name));
  if (role && statement.params.length === 1) return [{ kind: 'role', role }];
  reportFault(context, statement, 'a role is written {{role "system"}}, {{role "user"}} or {{role "model"}}');
  return [];
}

function compileSection(statement: Mustache, context: CompileContext): TemplateNode[] {
  const [param] = statement.params;
  if (param && statement.params.length === 1) {
    return [{ kind: 'section', name: compileExpression(param, context) }];
  }
  reportFault(context, statement, 'a section is written {{section "name"}}');
  return [];
}
