import type { Place } from '../../files/file-fault.ts';

/** What `this` is: all inputs, perhaps all inputs, or a value of which nothing is known beforehand. */
type Self = 'inputs' | 'perhaps' | 'other';

interface Frame {
  readonly self: Self;
  /** Names that stand in front of the inputs: the arguments of a partial. */
  readonly shadowed: ReadonlySet<string>;
}

/** What a path means, as far as that shows without the values. */
type Meaning =
  | { readonly kind: 'input'; readonly key: string; readonly certain: boolean; readonly whole: boolean }
  | { readonly kind: 'inputs' }
  | { readonly kind: 'data'; readonly isKnown: boolean }
  | { readonly kind: 'value' }
  | { readonly kind: 'nowhere' };

const LOOP_VARIABLES = new Set(['index', 'key', 'first', 'last']);

/** The contexts that stand around a place of a template, innermost first. */
export class Scope {
  private constructor(
    readonly frames: readonly Frame[],
    readonly params: readonly string[],
    readonly isInLoop: boolean,
  ) {}

  static root(self: Self = 'inputs'): Scope {
    return new Scope([{ self, shadowed: new Set() }], [], false);
  }

  /** Inside a block that changes what `this` is. */
  within(self: Self): Scope {
    return new Scope([{ self, shadowed: new Set() }, ...this.frames], this.params, this.isInLoop);
  }

  inLoop(): Scope {
    return new Scope(this.within('other').frames, this.params, true);
  }

  withParams(names: readonly string[] = []): Scope {
    return new Scope(this.frames, [...names, ...this.params], this.isInLoop);
  }

  /** Inside a partial, which knows none of the block parameters around it. */
  inPartial(self: Self | undefined, args: readonly string[]): Scope {
    const [here = { self: 'other' as const, shadowed: new Set<string>() }, ...outer] = this.frames;
    const shadowed = new Set([...(self === undefined ? here.shadowed : []), ...args]);
    return new Scope([{ self: self ?? here.self, shadowed }, ...outer], [], this.isInLoop);
  }

  /** Equal for scopes in which every path means the same. */
  get key(): string {
    const frames = this.frames.map(({ self, shadowed }) => [self, ...[...shadowed].sort()].join(','));
    return `${this.isInLoop ? 'loop' : ''}|${frames.join('|')}`;
  }

  meaning({ data, depth, parts, original }: hbs.AST.PathExpression): Meaning {
    const [name] = parts;
    if (data) return this.#data(parts);
    const isPlain = depth === 0 && !/^(\.|this\b)/.test(original);
    if (isPlain && name !== undefined && this.params.includes(name)) return { kind: 'value' };
    const frame = this.frames[depth];
    if (!frame) return { kind: 'nowhere' };
    if (frame.self === 'other') return { kind: 'value' };
    if (name === undefined) return frame.self === 'inputs' ? { kind: 'inputs' } : { kind: 'value' };
    if (frame.shadowed.has(name)) return { kind: 'value' };
    return { kind: 'input', key: name, certain: frame.self === 'inputs', whole: parts.length === 1 };
  }

  #data([name, key, ...rest]: readonly string[]): Meaning {
    if (name === 'root' && key === undefined) return { kind: 'inputs' };
    if (name === 'root' && key !== undefined) {
      return { kind: 'input', key, certain: true, whole: rest.length === 0 };
    }
    const isKnown = name === 'metadata' || (this.isInLoop && LOOP_VARIABLES.has(name ?? ''));
    return { kind: 'data', isKnown };
  }
}

/** A place of a template, and what names mean there. */
export interface Here {
  readonly scope: Scope;
  /** The file that is being read: the prompt's or a partial's. */
  readonly file: string;
  /** Where the text begins in that file. */
  readonly start: Place;
  /** Names of inline partials that are known here. */
  readonly inlines: ReadonlySet<string>;
}

/** Lines of a template are counted from its own beginning; people count from the file's. */
export function placeIn({ start }: Here, { line, column }: Place): Place {
  return { line: line + start.line - 1, column: column + (line === 1 ? start.column : 1) };
}
