import { BOUNDS } from '../bounds.ts';
import type { Findings } from '../findings.ts';
import {
  type CompileContext,
  type CompileProgram,
  type PartialLookup,
  reportFault,
  type Scope,
} from './context.ts';
import { compileExpression, isPath } from './expression.ts';
import { PARTIAL_BLOCK, type TemplateNode } from './node.ts';

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

type CompilePartial = (
  text: string,
  file: string,
  scope: Scope,
  onPartial: (name: string, scope: Scope) => boolean,
) => readonly TemplateNode[];

/** How often partials are read again to see which inputs they use in another context. */
const MAX_READINGS = 300;

/** The partials a prompt uses, each read once for each context it is used in. */
export class PartialLibrary {
  private readonly bodies = new Map<string, readonly TemplateNode[]>();
  private readonly texts = new Map<string, string>();
  private readonly readings = new Set<string>();
  private bytes = 0;

  constructor(
    private readonly lookup: PartialLookup,
    private readonly findings: Findings,
    private readonly compile: CompilePartial,
  ) {}

  /** False where there is no such partial. */
  use(name: string, scope: Scope): boolean {
    const found = this.lookup(name);
    if (!found) return false;
    const reading = `${name}\n${scope.key}`;
    if (this.readings.has(reading) || this.readings.size >= MAX_READINGS) return true;
    this.readings.add(reading);
    if (!this.texts.has(name) && !this.isWithinBounds(found.text)) return true;
    this.texts.set(name, found.text);
    const body = this.compile(found.text, found.file, scope, (name, scope) => this.use(name, scope));
    if (!this.bodies.has(name)) this.bodies.set(name, body);
    return true;
  }

  collected(): {
    partialBodies: Record<string, readonly TemplateNode[]>;
    partials: Record<string, string>;
  } {
    const names = [...this.texts.keys()].sort();
    return {
      partialBodies: Object.fromEntries(names.map(name => [name, this.bodies.get(name) ?? []])),
      partials: Object.fromEntries(names.map(name => [name, this.texts.get(name) ?? ''])),
    };
  }

  private isWithinBounds(text: string): boolean {
    this.bytes += Buffer.byteLength(text);
    const { partials, partialBytes } = BOUNDS;
    if (this.texts.size < partials && this.bytes <= partialBytes) return true;
    this.findings.fault(
      { line: 1, column: 1 },
      `the prompt uses more than ${partials} partials or ${partialBytes / 1024} KiB of them`,
    );
    return false;
  }
}
