import type { TemplateNode } from './node.ts';
import { partOf, type Value } from './values.ts';

/** A list that shares its tail: entering a block adds to it, leaving it needs nothing. */
interface Chain<T> {
  readonly head: T;
  readonly tail: Chain<T> | undefined;
}

type Variables = { readonly [name: string]: Value };

/** What stands between `{{#> name}}` and its end, with the place it was written in. */
interface Closure {
  readonly body: readonly TemplateNode[];
  readonly environment: Environment;
}

/** What names mean at a place of a template while it is rendered. */
export class Environment {
  private constructor(
    private readonly contexts: Chain<Value>,
    private readonly variables: Chain<Variables>,
    private readonly params: Chain<readonly Value[]> | undefined,
    private readonly inlines: Chain<{ name: string } & Closure> | undefined,
    readonly block: Closure | undefined,
  ) {}

  static root(inputs: Value, variables: Variables): Environment {
    const root = { head: { ...variables, root: inputs }, tail: undefined };
    return new Environment({ head: inputs, tail: undefined }, root, undefined, undefined, undefined);
  }

  get context(): Value {
    return this.contexts.head;
  }

  contextAt(up: number): Value {
    return nth(this.contexts, up)?.head;
  }

  /** An `@` variable; those of loops further in hide those further out. */
  variable(name: string, up: number): Value {
    for (let frame = nth(this.variables, up); frame; frame = frame.tail) {
      if (Object.hasOwn(frame.head, name)) return frame.head[name];
    }
    return undefined;
  }

  param(up: number, index: number): Value {
    return nth(this.params, up)?.head[index];
  }

  inline(name: string): Closure | undefined {
    for (let inline = this.inlines; inline; inline = inline.tail) {
      if (inline.head.name === name) return inline.head;
    }
    return undefined;
  }

  /** Inside a block whose `this` is `context`; the same object is not one more level for `../`. */
  within(context: Value, params?: readonly Value[]): Environment {
    const isSame = context === this.context && typeof context === 'object';
    const contexts = isSame ? this.contexts : { head: context, tail: this.contexts };
    const chain = params ? { head: params, tail: this.params } : this.params;
    return new Environment(contexts, this.variables, chain, this.inlines, this.block);
  }

  inLoop(variables: Variables): Environment {
    const chain = { head: variables, tail: this.variables };
    return new Environment(this.contexts, chain, this.params, this.inlines, this.block);
  }

  withInline(name: string, body: readonly TemplateNode[]): Environment {
    const inlines = { head: { name, body, environment: this }, tail: this.inlines };
    return new Environment(this.contexts, this.variables, this.params, inlines, this.block);
  }

  /** Inside a partial: no block parameters, and what was given stands in front of the fields of its `this`. */
  inPartial(context: Value, block: Closure | undefined): Environment {
    const { contexts } = this.within(context);
    return new Environment(contexts, this.variables, undefined, this.inlines, block ?? this.block);
  }

  /** The block of a partial, where it is placed: names mean what they mean there, the context is the partial's. */
  inBlock(closure: Closure): Environment {
    const { environment } = closure;
    const { contexts } = environment.within(this.context);
    const { params, inlines, block } = environment;
    return new Environment(contexts, this.variables, params, inlines, block);
  }
}

function nth<T>(chain: Chain<T> | undefined, up: number): Chain<T> | undefined {
  let link = chain;
  for (let left = up; left > 0 && link; left -= 1) link = link.tail;
  return link;
}

/** The value that `parts` lead to from another. */
export function follow(value: Value, parts: readonly string[]): Value {
  return parts.reduce(partOf, value);
}
