import type { Place } from '../../files/yaml-file.ts';
import type { Findings } from '../findings.ts';
import { compileBlock } from './block.ts';
import { type CompileContext, type FieldUse, type PartialLookup, reportFault, Scope } from './context.ts';
import type { TemplateNode } from './node.ts';
import { parseTemplate } from './parse.ts';
import { compilePartial, compilePartialBlock, PartialLibrary } from './partials.ts';
import { compileMustache } from './statement.ts';

export interface CompiledTemplate {
  readonly body: readonly TemplateNode[];
  /** By name, those of partials included. */
  readonly partialBodies: Readonly<Record<string, readonly TemplateNode[]>>;
  readonly partials: Readonly<Record<string, string>>;
  /** Every use of every input, in order of appearance. */
  readonly uses: readonly FieldUse[];
  /** Whether all inputs are used together, as in `{{json this}}`. */
  readonly usesInputs: boolean;
}

export interface TemplateSource {
  readonly template: string;
  /** Where the template begins in its file. */
  readonly start: Place;
  readonly findings: Findings;
  readonly declares: (key: string) => boolean;
  readonly partials: PartialLookup;
  /** What `this` is at the top: of a partial that is read by itself nothing is known. */
  readonly self?: 'other';
}

/** Reads a Handlebars template into a tree. Everything that is wrong with it becomes a finding. */
export function compileTemplate(source: TemplateSource): CompiledTemplate {
  const { template, start, findings, declares } = source;
  const uses: FieldUse[] = [];
  let usesInputs = false;
  const root = source.self ? Scope.root().inPartial(source.self, []) : Scope.root();
  const common = {
    findings,
    declares,
    onUse: (use: FieldUse) => void uses.push(use),
    onInputs: () => {
      usesInputs = true;
    },
    inlines: new Set<string>(),
  };
  const library = new PartialLibrary(source.partials, findings, (text, file, scope, onPartial) =>
    compileText(text, { ...common, scope, file, placeOf: placing({ line: 1, column: 1 }), onPartial }),
  );
  const onPartial: CompileContext['onPartial'] = (name, scope) => library.use(name, scope);
  const placeOf = placing(start);
  const body = compileText(template, { ...common, scope: root, file: findings.file, placeOf, onPartial });
  return { body, ...library.collected(), uses, usesInputs };
}

/** Lines of a template are counted from its own beginning; people count from the file's. */
function placing(start: Place): CompileContext['placeOf'] {
  return ({ start: { line, column } }) => ({
    line: line + start.line - 1,
    column: column + (line === 1 ? start.column : 1),
  });
}

function compileText(text: string, context: CompileContext): readonly TemplateNode[] {
  const { program, faults } = parseTemplate(text);
  for (const { line, column, what } of faults) {
    const start = { line, column: column - 1 };
    context.findings.fault(context.placeOf({ source: '', start, end: start }), what, context.file);
  }
  return compileProgram(program, context);
}

function compileProgram(
  program: hbs.AST.Program | undefined,
  context: CompileContext,
): readonly TemplateNode[] {
  const body = program?.body ?? [];
  const inlines = body.map(inlineName).filter(name => name !== undefined);
  const inside =
    inlines.length === 0 ? context : { ...context, inlines: new Set([...context.inlines, ...inlines]) };
  return body.flatMap(statement => compileStatement(statement, inside));
}

function inlineName(statement: hbs.AST.Statement): string | undefined {
  if (statement.type !== 'DecoratorBlock') return undefined;
  const { path, params } = statement as hbs.AST.DecoratorBlock;
  const [name] = params;
  return path.original === 'inline' && name?.type === 'StringLiteral'
    ? (name as hbs.AST.StringLiteral).value
    : undefined;
}

function compileStatement(statement: hbs.AST.Statement, context: CompileContext): readonly TemplateNode[] {
  switch (statement.type) {
    case 'ContentStatement': {
      const { value } = statement as hbs.AST.ContentStatement;
      return value === '' ? [] : [{ kind: 'text', text: value }];
    }
    case 'MustacheStatement':
      return compileMustache(statement as hbs.AST.MustacheStatement, context);
    case 'BlockStatement':
      return [compileBlock(statement as hbs.AST.BlockStatement, context, compileProgram)];
    case 'PartialStatement':
      return compilePartial(statement as hbs.AST.PartialStatement, context);
    case 'PartialBlockStatement':
      return compilePartialBlock(statement as hbs.AST.PartialBlockStatement, context, compileProgram);
    case 'CommentStatement':
      return [];
    case 'DecoratorBlock':
      return compileInline(statement as hbs.AST.DecoratorBlock, context);
    default:
      reportFault(context, statement, 'the only decorator there is is {{#*inline "name"}}');
      return [];
  }
}

/** What is inside is read as if nothing were known of its context: it has that of the place it is used at. */
function compileInline(block: hbs.AST.DecoratorBlock, context: CompileContext): readonly TemplateNode[] {
  const name = inlineName(block);
  if (name === undefined) {
    reportFault(context, block, 'a partial of this file is written {{#*inline "name"}}…{{/inline}}');
    return [];
  }
  const scope = context.scope.within('perhaps');
  return [{ kind: 'inline', name, body: compileProgram(block.program, { ...context, scope }) }];
}
