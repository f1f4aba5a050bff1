import { FileFault } from '../files/yaml-file.ts';
import type { CompileContext } from './template-context.ts';
import { isPath, paramValue, unknownHelper } from './template-inline.ts';
import type { TemplateNode, TemplateTest, TemplateValue } from './template-node.ts';

type CompileProgram = (program: hbs.AST.Program | undefined, context: CompileContext) => TemplateNode[];
type Block = hbs.AST.BlockStatement;

/** A block and its `{{else}}`. */
export function compileBlock(block: Block, outer: CompileContext, compile: CompileProgram): TemplateNode {
  const context = { ...outer, depth: outer.depth + 1 };
  if (block.params.length === 0 && !isBareHelper(block, context)) return section(block, context, compile);
  switch (block.path.original) {
    case 'if':
      return branch(block, context, compile, { kind: 'filled', value: onlyParam(block, context) });
    case 'unless':
      return inverted(branch(block, context, compile, { kind: 'filled', value: onlyParam(block, context) }));
    case 'ifEquals':
      return branch(block, context, compile, equality(block, context));
    case 'unlessEquals':
      return inverted(branch(block, context, compile, equality(block, context)));
    case 'with':
      return within(block, context, compile, 'filled', onlyParam(block, context));
    case 'each':
      return loop(block, context, compile);
    default:
      throw unknownHelper(block.path);
  }
}

const BLOCKS = new Set(['if', 'unless', 'ifEquals', 'unlessEquals', 'with', 'each']);

/** `{{#if}}` asks for nothing, unless there is an input of that name. */
function isBareHelper({ path }: Block, { declares }: CompileContext): boolean {
  return BLOCKS.has(path.original) && !declares(path.original);
}

type Branch = Extract<TemplateNode, { kind: 'branch' }>;

function branch(block: Block, context: CompileContext, compile: CompileProgram, test: TemplateTest): Branch {
  const yes = compile(block.program, context);
  return { kind: 'branch', test, yes, no: compile(block.inverse, context) };
}

function inverted(node: Branch): Branch {
  return { ...node, yes: node.no, no: node.yes };
}

/** `{{#name}}…{{/name}}`: shown when the input was given, and `this` is its value. */
function section(block: Block, context: CompileContext, compile: CompileProgram): TemplateNode {
  return within(block, context, compile, 'given', context.scope.value(block.path, false));
}

function within(
  block: Block,
  context: CompileContext,
  compile: CompileProgram,
  kind: 'filled' | 'given',
  value: TemplateValue,
): TemplateNode {
  const [name] = block.program?.blockParams ?? [];
  const scope = context.scope.within(value, new Map(name === undefined ? [] : [[name, value]]));
  const yes = compile(block.program, { ...context, scope });
  return { kind: 'branch', test: { kind, value }, yes, no: compile(block.inverse, context) };
}

const LOOP_VALUE: TemplateValue = { kind: 'loop', part: 'value', up: 0 };
const LOOP_KEY: TemplateValue = { kind: 'loop', part: 'key', up: 0 };

function loop(block: Block, context: CompileContext, compile: CompileProgram): TemplateNode {
  const [param] = block.params;
  if (!param || block.params.length > 1 || !isPath(param) || !context.scope.isInputs(param)) {
    throw new FileFault(
      block.loc.start.line,
      'an input is one text: {{#each this}} goes through all inputs, {{#if field}} asks for one',
    );
  }
  const [value, key] = block.program?.blockParams ?? [];
  const names = new Map<string, TemplateValue>();
  if (value !== undefined) names.set(value, LOOP_VALUE);
  if (key !== undefined) names.set(key, LOOP_KEY);
  const body = compile(block.program, { ...context, scope: context.scope.inLoop(LOOP_VALUE, names) });
  return { kind: 'loop', body, otherwise: compile(block.inverse, context) };
}

function onlyParam(block: Block, context: CompileContext): TemplateValue {
  const [param] = block.params;
  if (param && block.params.length === 1) return paramValue(param, context);
  throw new FileFault(block.loc.start.line, `\`${block.path.original}\` takes one value`);
}

function equality(block: Block, context: CompileContext): TemplateTest {
  const [left, right] = block.params;
  if (left && right && block.params.length === 2) {
    return { kind: 'equal', left: paramValue(left, context), right: paramValue(right, context) };
  }
  throw new FileFault(block.loc.start.line, `\`${block.path.original}\` takes two values`);
}
