import { type CompileContext, type CompileProgram, reportFault } from './context.ts';
import { compileExpression, isPath } from './expression.ts';
import { PARTIAL_BLOCK, type TemplateNode } from './node.ts';
import type { Scope } from './scope.ts';

type Partial = hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement;

/** `{{> name context key=value}}`: another file put in here. */
export function compilePartial(partial: hbs.AST.PartialStatement, context: CompileContext): TemplateNode[] {
  const name = nameOf(partial, context);
  if (name === undefined) return [];
  const isThere = isKnownHere(name, context) || context.onPartial(name, scopeOf(partial, context));
  if (!isThere) reportMissing(partial, context, name);
  return [{ kind: 'partial', name, ...valuesOf(partial, context), indent: partial.indent ?? '' }];
}

/** `{{#> name}}…{{/name}}`: what is inside takes the partial's place where there is none. */
export function compilePartialBlock(
  partial: hbs.AST.PartialBlockStatement,
  context: CompileContext,
  compile: CompileProgram,
): TemplateNode[] {
  const name = nameOf(partial, context);
  if (name === undefined) return [];
  if (!isKnownHere(name, context)) context.onPartial(name, scopeOf(partial, context));
  const block = compile(partial.program, { ...context, scope: context.scope.within('perhaps') });
  return [{ kind: 'partial', name, ...valuesOf(partial, context), indent: '', block }];
}

function isKnownHere(name: string, { inlines }: CompileContext): boolean {
  return name === PARTIAL_BLOCK || inlines.has(name);
}

/** Names are written out, so that no input can choose a file. */
function nameOf(partial: Partial, context: CompileContext): string | undefined {
  const { name } = partial;
  if ('original' in name) return name.original;
  reportFault(context, partial, 'the name of a partial is written out: no input can choose it');
  return undefined;
}

function scopeOf({ params: [param], hash }: Partial, { scope }: CompileContext): Scope {
  const given = hash?.pairs.map(({ key }) => key) ?? [];
  const isHere = param === undefined || (isPath(param) && scope.meaning(param).kind === 'inputs');
  return scope.inPartial(isHere ? undefined : 'other', given);
}

function valuesOf(
  { params: [param], hash }: Partial,
  context: CompileContext,
): Pick<Extract<TemplateNode, { kind: 'partial' }>, 'context' | 'hash'> {
  const pairs = hash?.pairs.map(
    ({ key, value }) => [key, compileExpression(value, context, 'text')] as const,
  );
  const isThis = param !== undefined && isPath(param) && context.scope.meaning(param).kind === 'inputs';
  return {
    ...(param && !isThis && { context: compileExpression(param, context, 'text') }),
    hash: pairs ?? [],
  };
}

function reportMissing(partial: Partial, context: CompileContext, name: string): void {
  const at = name.lastIndexOf('/') + 1;
  const file = `${name.slice(0, at)}_${name.slice(at)}.prompt`;
  reportFault(
    context,
    partial,
    `there is no partial \`${name}\`: it would be the file ${file} beside this one`,
  );
}
