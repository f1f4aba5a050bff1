import { type CompileContext, type CompileProgram, reportFault } from './context.ts';
import { compileExpression, compilePath, isPath, reportUnknownHelper } from './expression.ts';
import type { Expression, TemplateNode, Test } from './node.ts';

type Block = hbs.AST.BlockStatement;

const NOTHING: Expression = { kind: 'literal' };
const BLOCKS = new Set(['if', 'unless', 'ifEquals', 'unlessEquals', 'with', 'each']);

/** A block and its `{{else}}`. */
export function compileBlock(block: Block, context: CompileContext, compile: CompileProgram): TemplateNode {
  const { original } = block.path;
  const isHelper = BLOCKS.has(original) && !(block.params.length === 0 && context.declares(original));
  if (!isHelper && block.params.length > 0) reportUnknownHelper(context, block.path, original);
  if (!isHelper) return compileBare(block, context, compile);
  switch (original) {
    case 'if':
      return branch(block, context, compile, filled(block, context));
    case 'unless':
      return inverted(branch(block, context, compile, filled(block, context)));
    case 'ifEquals':
      return branch(block, context, compile, equal(block, context));
    case 'unlessEquals':
      return inverted(branch(block, context, compile, equal(block, context)));
    case 'with':
      return compileWith(block, context, compile);
    default:
      return compileEach(block, context, compile);
  }
}

type Branch = Extract<TemplateNode, { kind: 'branch' }>;

function branch(block: Block, context: CompileContext, compile: CompileProgram, test: Test): Branch {
  const yes = compile(block.program, context);
  return { kind: 'branch', test, yes, no: compile(block.inverse, context) };
}

function inverted(node: Branch): Branch {
  return { ...node, yes: node.no, no: node.yes };
}

function filled(block: Block, context: CompileContext): Test {
  const zero = block.hash?.pairs.find(({ key }) => key === 'includeZero')?.value;
  const isZeroFilled = zero?.type === 'BooleanLiteral' && (zero as hbs.AST.BooleanLiteral).value;
  return { kind: 'filled', value: onlyParam(block, context), ...(isZeroFilled && { zero: true }) };
}

function equal(block: Block, context: CompileContext): Test {
  const [left, right] = block.params;
  if (!left || !right || block.params.length > 2) {
    reportFault(context, block, `\`${block.path.original}\` takes two values`);
    return { kind: 'equal', left: NOTHING, right: NOTHING };
  }
  return { kind: 'equal', left: compileExpression(left, context), right: compileExpression(right, context) };
}

/** `{{#name}}…{{/name}}`: a list is gone through, anything else but false and nothing is `this` inside. */
function compileBare(block: Block, context: CompileContext, compile: CompileProgram): TemplateNode {
  const value = compilePath(block.path, context, 'test');
  const scope = context.scope.within('perhaps').withParams(block.program?.blockParams ?? []);
  return blockOf('bare', block, value, { ...context, scope }, context, compile);
}

function compileWith(block: Block, context: CompileContext, compile: CompileProgram): TemplateNode {
  const [param] = block.params;
  const isInputs = param && isPath(param) && context.scope.meaning(param).kind === 'inputs';
  const around = isInputs ? context.scope : context.scope.within('other');
  const scope = around.withParams(block.program?.blockParams ?? []);
  return blockOf('with', block, onlyParam(block, context), { ...context, scope }, context, compile);
}

function compileEach(block: Block, context: CompileContext, compile: CompileProgram): TemplateNode {
  const scope = context.scope.inLoop().withParams(block.program?.blockParams ?? []);
  return blockOf('each', block, onlyParam(block, context), { ...context, scope }, context, compile);
}

function blockOf(
  kind: 'each' | 'with' | 'bare',
  block: Block,
  value: Expression,
  inside: CompileContext,
  outside: CompileContext,
  compile: CompileProgram,
): TemplateNode {
  const params = (block.program?.blockParams?.length ?? 0) > 0;
  const body = compile(block.program, inside);
  return { kind, value, body, otherwise: compile(block.inverse, outside), params };
}

function onlyParam(block: Block, context: CompileContext): Expression {
  const [param] = block.params;
  if (param && block.params.length === 1) return compileExpression(param, context);
  reportFault(context, block, `\`${block.path.original}\` takes one value`);
  return NOTHING;
}
