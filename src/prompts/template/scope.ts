import type { FilePosition } from '../../files/formats/file-fault.ts';

/** The kind of `this`: the inputs, possibly the inputs, or a value that is unknown beforehand. */
type ThisKind = 'inputs' | 'maybe-inputs' | 'other';

interface ScopeFrame {
  readonly thisKind: ThisKind;
  /** Names that hide inputs: the arguments of a partial. */
  readonly shadowedNames: ReadonlySet<string>;
}

/** The meaning of a path that is known without values. */
type PathMeaning =
  | {
      readonly kind: 'input';
      readonly key: string;
      readonly isCertain: boolean;
      /** True for the input itself, false for a field of it. */
      readonly isWhole: boolean;
    }
  | { readonly kind: 'inputs' }
  | { readonly kind: 'data'; readonly isKnown: boolean }
  | { readonly kind: 'value' }
  | { readonly kind: 'nowhere' };

const LOOP_VARIABLES = new Set(['index', 'key', 'first', 'last']);

/** The nested contexts at a place in a template, innermost first. */
export class Scope {
  private constructor(
    readonly frames: readonly ScopeFrame[],
    readonly params: readonly string[],
    readonly isInLoop: boolean,
  ) {}

  static createRoot(thisKind: ThisKind = 'inputs'): Scope {
    return new Scope([{ thisKind, shadowedNames: new Set() }], [], false);
  }

  /** Returns the scope inside a block that changes `this`. */
  enterBlock(thisKind: ThisKind): Scope {
    return new Scope(
      [{ thisKind, shadowedNames: new Set() }, ...this.frames],
      this.params,
      this.isInLoop,
    );
  }

  enterLoop(): Scope {
    return new Scope(this.enterBlock('other').frames, this.params, true);
  }

  withParams(names: readonly string[] = []): Scope {
    return new Scope(this.frames, [...names, ...this.params], this.isInLoop);
  }

  /** Returns the scope inside a partial, where outer block parameters are unknown. */
  enterPartial(thisKind: ThisKind | undefined, args: readonly string[]): Scope {
    const [innermost = { thisKind: 'other' as const, shadowedNames: new Set<string>() }, ...outer] =
      this.frames;
    const shadowedNames = new Set([
      ...(thisKind === undefined ? innermost.shadowedNames : []),
      ...args,
    ]);
    return new Scope(
      [{ thisKind: thisKind ?? innermost.thisKind, shadowedNames }, ...outer],
      [],
      this.isInLoop,
    );
  }

  /** A key that is equal for scopes in which every path has the same meaning. */
  get key(): string {
    const frames = this.frames.map(({ thisKind, shadowedNames }) =>
      [thisKind, ...[...shadowedNames].sort()].join(','),
    );
    return `${this.isInLoop ? 'loop' : ''}|${frames.join('|')}`;
  }

  getMeaning({ data, depth, parts, original }: hbs.AST.PathExpression): PathMeaning {
    const [name] = parts;
    if (data) return this.#getDataMeaning(parts);

    const isPlain = depth === 0 && !/^(\.|this\b)/.test(original);
    if (isPlain && name !== undefined && this.params.includes(name)) return { kind: 'value' };

    const frame = this.frames[depth];
    if (!frame) return { kind: 'nowhere' };
    if (frame.thisKind === 'other') return { kind: 'value' };
    if (name === undefined) {
      return frame.thisKind === 'inputs' ? { kind: 'inputs' } : { kind: 'value' };
    }
    if (frame.shadowedNames.has(name)) return { kind: 'value' };

    return {
      kind: 'input',
      key: name,
      isCertain: frame.thisKind === 'inputs',
      isWhole: parts.length === 1,
    };
  }

  #getDataMeaning([name, key, ...rest]: readonly string[]): PathMeaning {
    if (name === 'root' && key === undefined) return { kind: 'inputs' };
    if (name === 'root' && key !== undefined) {
      return { kind: 'input', key, isCertain: true, isWhole: rest.length === 0 };
    }
    const isKnown = name === 'metadata' || (this.isInLoop && LOOP_VARIABLES.has(name ?? ''));
    return { kind: 'data', isKnown };
  }
}

/** A place in a template and the meaning of names there. */
export interface TemplatePlace {
  readonly scope: Scope;
  /** The file being read: the prompt's or a partial's. */
  readonly file: string;
  /** The place where the text begins in that file. */
  readonly start: FilePosition;
  /** The names of inline partials that are visible here. */
  readonly inlines: ReadonlySet<string>;
  /**
   * The names of the partials that are rendered whenever this place is; only blocks can end a
   * partial's use of itself.
   */
  readonly openPartials: ReadonlySet<string>;
}

/** Converts a place relative to the template to a place in the file. */
export function toFilePosition(
  { start }: TemplatePlace,
  { line, column }: FilePosition,
): FilePosition {
  return { line: line + start.line - 1, column: column + (line === 1 ? start.column : 1) };
}
