import { parse as parseHandlebars } from 'handlebars/dist/cjs/handlebars/compiler/base.js';
import { FileFault } from '../files/yaml-file.ts';
import { toError } from '../thrown.ts';
import { compileBlock } from './template-block.ts';
import type { CompileContext } from './template-context.ts';
import { inlineHelper } from './template-inline.ts';
import type { TemplateNode } from './template-node.ts';
import { Scope } from './template-scope.ts';

/** An input as a template uses it. */
export interface FieldUse {
  readonly key: string;
  /** Shown, asked for in a condition, or placed as a picture. */
  readonly as: 'text' | 'test' | 'image';
  /** Within the template, from 1. */
  readonly line: number;
}

export interface CompiledTemplate {
  readonly body: readonly TemplateNode[];
  /** Every use of every input, in order of appearance. */
  readonly uses: readonly FieldUse[];
}

/** Reads a Handlebars template into a tree. Throws FileFault with a line counted within the template. */
export function compileTemplate(template: string, declares: (key: string) => boolean): CompiledTemplate {
  const uses: FieldUse[] = [];
  const use = (as: FieldUse['as']) => (key: string, line: number) => {
    uses.push({ key, as, line });
  };
  const scope = Scope.root((key, line, shown) => use(shown ? 'text' : 'test')(key, line));
  const context = { scope, onImage: use('image'), declares, depth: 0 };
  return { body: compileProgram(parse(template), context), uses };
}

const MAX_DEPTH = 100;

function parse(template: string): hbs.AST.Program {
  const open = openBlocks(template);
  try {
    return parseHandlebars(template);
  } catch (error) {
    const { line, what } = explain(toError(error), open);
    throw new FileFault(line, what);
  }
}

/** The lines of the blocks that are open at the end, by a rough look; the parser takes ever longer the deeper it gets. */
function openBlocks(template: string): number[] {
  const open: number[] = [];
  template.split('\n').forEach((line, index) => {
    for (const [tag] of line.matchAll(/\{\{~?(?:#|\^(?!~?\}\})|\/)/g)) {
      if (tag.endsWith('/')) open.pop();
      else open.push(index + 1);
      if (open.length > 2 * MAX_DEPTH) throw new FileFault(index + 1, 'blocks are nested too deeply');
    }
  });
  return open;
}

/** Handlebars draws a picture of the place and lists every token it would have taken; the place is enough. */
function explain(
  error: Error & { lineNumber?: number },
  open: readonly number[],
): { line: number; what: string } {
  const [first = '', ...rest] = error.message.split('\n');
  const expected = rest.at(-1) ?? '';
  const line = error.lineNumber ?? Number(/on line (\d+)/.exec(first)?.[1] ?? 1);
  if (/OPEN_ENDBLOCK.*got 'EOF'/.test(expected)) {
    return { line: open.at(-1) ?? line, what: 'this block is never closed' };
  }
  if (/^(Parse|Lexical) error/.test(first)) return { line, what: 'the template can’t be read here' };
  return { line, what: first.replace(/ - \d+:\d+$/, '') };
}

function compileProgram(program: hbs.AST.Program | undefined, context: CompileContext): TemplateNode[] {
  if (context.depth > MAX_DEPTH) {
    throw new FileFault(program?.loc.start.line ?? 1, 'blocks are nested too deeply');
  }
  const nodes = (program?.body ?? []).flatMap(statement => compileStatement(statement, context));
  return trimAroundRoles(nodes);
}

function compileStatement(statement: hbs.AST.Statement, context: CompileContext): TemplateNode[] {
  switch (statement.type) {
    case 'ContentStatement': {
      const { value } = statement as hbs.AST.ContentStatement;
      return value === '' ? [] : [{ kind: 'text', text: value }];
    }
    case 'MustacheStatement':
      return inlineHelper(statement as hbs.AST.MustacheStatement, context);
    case 'BlockStatement':
      return [compileBlock(statement as hbs.AST.BlockStatement, context, compileProgram)];
    case 'CommentStatement':
      return [];
    default:
      throw new FileFault(statement.loc.start.line, 'partials and decorators can’t be used in a prompt');
  }
}

/** The line breaks that set off a role marker are layout, not text. */
function trimAroundRoles(nodes: readonly TemplateNode[]): TemplateNode[] {
  return nodes.flatMap((node, index): TemplateNode[] => {
    if (node.kind !== 'text') return [node];
    const afterRole = nodes[index - 1]?.kind === 'role';
    const beforeRole = nodes[index + 1]?.kind === 'role';
    const start = afterRole ? node.text.trimStart() : node.text;
    const text = beforeRole ? start.trimEnd() : start;
    return text === '' ? [] : [{ kind: 'text', text }];
  });
}
