import { PastBound } from '../bounds.ts';
import { Budget, type Limits } from './budget.ts';
import { Environment, follow } from './environment.ts';
import { type Message, MessageBuilder } from './messages.ts';
import { type Expression, PARTIAL_BLOCK, type TemplateNode, type Test } from './node.ts';
import { entriesOf, isFilled, isThere, Picture, partOf, textOf, type Value } from './values.ts';

type Nodes = readonly TemplateNode[];
type Block = Extract<TemplateNode, { kind: 'each' | 'with' | 'bare' }>;
type Partial = Extract<TemplateNode, { kind: 'partial' }>;

export interface TemplateInputs {
  readonly inputs: { readonly [key: string]: Value };
  /** `@` variables besides those of loops. */
  readonly variables?: { readonly [name: string]: Value };
  /** Earlier messages, for `{{history}}`. */
  readonly history?: readonly Message[];
}

export interface Template {
  readonly body: Nodes;
  readonly partialBodies: Readonly<Record<string, Nodes>>;
}

/**
 * Walks a template. A value only ever becomes text: roles, pictures and sections come from the template's own tree.
 *
 * @throws {PastBound} past one of the limits, with the limit in the message
 */
export function renderTemplate(
  template: Template,
  given: TemplateInputs,
  limits?: Limits,
  startedAt?: number,
): Message[] {
  const budget = new Budget(limits, startedAt);
  const messages = new MessageBuilder(given.history ?? [], budget);
  const root = Environment.root(given.inputs, given.variables ?? {});
  new Renderer(template.partialBodies, messages, budget).render(template.body, root);
  return messages.messages();
}

class Renderer {
  constructor(
    private readonly partials: Readonly<Record<string, Nodes>>,
    private readonly messages: MessageBuilder,
    private readonly budget: Budget,
  ) {}

  render(nodes: Nodes, environment: Environment): void {
    let here = environment;
    for (const node of nodes) if (node.kind === 'inline') here = here.withInline(node.name, node.body);
    this.budget.deeper(() => {
      for (const node of nodes) this.renderNode(node, here);
    });
  }

  private renderNode(node: TemplateNode, here: Environment): void {
    this.budget.step();
    switch (node.kind) {
      case 'text':
        return this.messages.addLayout(node.text);
      case 'value':
        return this.messages.addValue(this.textOf(node.value, here));
      case 'media':
        return this.renderMedia(node, here);
      case 'role':
        return this.messages.beginRole(node.role);
      case 'history':
        return this.messages.addHistory();
      case 'section': {
        const purpose = this.textOf(node.name, here);
        return this.messages.addPart({ metadata: { purpose, pending: true } });
      }
      case 'branch':
        return this.render(this.holds(node.test, here) ? node.yes : node.no, here);
      case 'each':
      case 'with':
      case 'bare':
        return this.renderBlock(node, here);
      case 'partial':
        return this.renderPartial(node, here);
      case 'inline':
        return undefined;
    }
  }

  private renderMedia(
    { url, contentType }: Extract<TemplateNode, { kind: 'media' }>,
    here: Environment,
  ): void {
    const address = this.valueOf(url, here);
    const type = contentType && this.textOf(contentType, here);
    if (!isFilled(address)) return;
    const media = {
      url: address instanceof Picture ? address : this.written(address),
      ...(type && { contentType: type }),
    };
    this.messages.addPart({ media });
  }

  private renderBlock(node: Block, here: Environment): void {
    const value = this.valueOf(node.value, here);
    if (node.kind === 'each' || (node.kind === 'bare' && Array.isArray(value))) {
      return this.renderEach(node, value, here);
    }
    if (node.kind === 'bare' && value === true) return this.render(node.body, here);
    const isShown =
      node.kind === 'with' ? isThere(value) : value !== false && value !== null && value !== undefined;
    if (!isShown) return this.render(node.otherwise, here);
    return this.render(node.body, here.within(value, node.params ? [value] : undefined));
  }

  private renderEach({ body, otherwise, params }: Block, value: Value, here: Environment): void {
    const entries = entriesOf(value);
    if (entries.length === 0) return this.render(otherwise, here);
    entries.forEach(([key, item], index) => {
      this.budget.step();
      const loop = { key, index, first: index === 0, last: index === entries.length - 1 };
      this.render(body, here.within(item, params ? [item, key] : undefined).inLoop(loop));
    });
  }

  private renderPartial(node: Partial, here: Environment): void {
    const context = this.contextOf(node, here);
    const block = node.block && { body: node.block, environment: here };
    this.messages.indented(node.indent, () => {
      if (node.name === PARTIAL_BLOCK) {
        const outer = here.block;
        if (outer) this.render(outer.body, here.inPartial(context, undefined).inBlock(outer));
        return;
      }
      const inline = here.inline(node.name);
      const body =
        inline?.body ?? (Object.hasOwn(this.partials, node.name) ? this.partials[node.name] : undefined);
      const inside = here.inPartial(context, block);
      this.render(body ?? node.block ?? [], inside);
    });
  }

  private contextOf({ context, hash }: Partial, here: Environment): Value {
    const value = context ? this.valueOf(context, here) : here.context;
    if (hash.length === 0) return value;
    const given = hash.map(([key, expression]) => [key, this.valueOf(expression, here)] as const);
    const own = entriesOf(value).map(([key, item]) => [String(key), item] as const);
    this.budget.step(own.length);
    return Object.fromEntries([...own, ...given]);
  }

  private holds(test: Test, here: Environment): boolean {
    if (test.kind === 'equal') return this.valueOf(test.left, here) === this.valueOf(test.right, here);
    return isFilled(this.valueOf(test.value, here), test.zero);
  }

  private valueOf(expression: Expression, here: Environment): Value {
    if (expression.kind === 'literal') return expression.value;
    if (expression.kind === 'json') return this.jsonOf(expression, here);
    if (expression.kind === 'lookup') {
      const object = this.valueOf(expression.object, here);
      return object ? partOf(object, this.written(this.valueOf(expression.key, here))) : object;
    }
    const { kind, up, parts } = expression;
    if (kind === 'path') return follow(here.contextAt(up), parts);
    if (kind === 'param') return follow(here.param(up, expression.nth), parts);
    const [name = '', ...rest] = parts;
    return follow(here.variable(name, up), rest);
  }

  private jsonOf({ value, indent }: Extract<Expression, { kind: 'json' }>, here: Environment): string {
    const spaces = indent && this.valueOf(indent, here);
    const width = typeof spaces === 'number' || typeof spaces === 'string' ? spaces : 0;
    try {
      return this.counted(JSON.stringify(this.valueOf(value, here) ?? null, null, width));
    } catch (error) {
      if (error instanceof RangeError) {
        throw new PastBound('a value is nested too deeply to be written as JSON');
      }
      throw error;
    }
  }

  private textOf(expression: Expression, here: Environment): string {
    return this.written(this.valueOf(expression, here));
  }

  private written(value: Value): string {
    return typeof value === 'object' ? this.counted(textOf(value)) : textOf(value);
  }

  /** Writing out a large value is work, whether or not it is shown. */
  private counted(text: string): string {
    this.budget.step(Math.ceil(text.length / 64));
    return text;
  }
}
