import type { Place } from '../../files/yaml-file.ts';
import type { Findings } from '../findings.ts';
import type { TemplateNode } from './node.ts';

/** The text of a partial, undefined where there is none of that name. */
export type PartialLookup = (name: string) => PartialText | undefined;

interface PartialText {
  /** As faults name it. */
  readonly file: string;
  readonly text: string;
}

/** What the parts of a template are read with. */
export interface CompileContext {
  readonly scope: Scope;
  readonly findings: Findings;
  /** The file that is being read: the prompt's or a partial's. */
  readonly file: string;
  /** Where in the file a place of the template is. */
  readonly placeOf: (location: hbs.AST.SourceLocation) => Place;
  readonly onUse: (use: FieldUse) => void;
  /** The template uses all inputs at once, so any may be given. */
  readonly onInputs: () => void;
  /** Whether the schema declares an input of this name. */
  readonly declares: (key: string) => boolean;
  /** Reads a partial where it is used; false if there is none. */
  readonly onPartial: (name: string, scope: Scope) => boolean;
  /** Names of inline partials that are known here. */
  readonly inlines: ReadonlySet<string>;
}

export type CompileProgram = (
  program: hbs.AST.Program | undefined,
  context: CompileContext,
) => readonly TemplateNode[];

export function reportFault(context: CompileContext, node: hbs.AST.Node, message: string): void {
  context.findings.fault(context.placeOf(node.loc), message, context.file);
}

export function reportNote(context: CompileContext, node: hbs.AST.Node, message: string): void {
  context.findings.note(context.placeOf(node.loc), message, context.file);
}

/** How a template uses an input. */
export interface FieldUse extends Place {
  readonly key: string;
  /** Shown, asked for in a condition or passed on, or placed as a picture. */
  readonly as: 'text' | 'test' | 'image';
  /** The file it stands in: the prompt's or a partial's. */
  readonly file: string;
  /** Inside a block like `{{#name}}` only the value of `name` decides whose field it is. */
  readonly certain: boolean;
}

/** What `this` is: all inputs, perhaps all inputs, or a value of which nothing is known beforehand. */
type Self = 'inputs' | 'perhaps' | 'other';

interface Frame {
  readonly self: Self;
  /** Names that stand in front of the inputs: what a partial was given. */
  readonly given: ReadonlySet<string>;
}

/** What a path means, as far as that shows without the values. */
type Meaning =
  | { readonly kind: 'input'; readonly key: string; readonly certain: boolean; readonly whole: boolean }
  | { readonly kind: 'inputs' }
  | { readonly kind: 'param'; readonly up: number; readonly nth: number }
  | { readonly kind: 'data'; readonly isKnown: boolean }
  | { readonly kind: 'value' }
  | { readonly kind: 'nowhere' };

const LOOP_VARIABLES = new Set(['index', 'key', 'first', 'last']);

/** The contexts that stand around a place of a template, innermost first. */
export class Scope {
  private constructor(
    private readonly frames: readonly Frame[],
    private readonly params: readonly (readonly string[])[],
    private readonly loops: number,
  ) {}

  static root(): Scope {
    return new Scope([{ self: 'inputs', given: new Set() }], [], 0);
  }

  /** Inside a block that changes what `this` is. */
  within(self: Self): Scope {
    return new Scope([{ self, given: new Set() }, ...this.frames], this.params, this.loops);
  }

  inLoop(): Scope {
    return new Scope(this.within('other').frames, this.params, this.loops + 1);
  }

  withParams(names: readonly string[]): Scope {
    return names.length === 0 ? this : new Scope(this.frames, [names, ...this.params], this.loops);
  }

  /** Inside a partial, which knows none of the block parameters around it. */
  inPartial(self: Self | undefined, given: readonly string[]): Scope {
    const [here = { self: 'other' as const, given: new Set<string>() }, ...outer] = this.frames;
    const names = new Set([...(self === undefined ? here.given : []), ...given]);
    return new Scope([{ self: self ?? here.self, given: names }, ...outer], [], this.loops);
  }

  /** Equal for scopes in which every path means the same. */
  get key(): string {
    const frames = this.frames.map(({ self, given }) => [self, ...[...given].sort()].join(','));
    return `${this.loops > 0 ? 'loop' : ''}|${frames.join('|')}`;
  }

  meaning({ data, depth, parts, original }: hbs.AST.PathExpression): Meaning {
    const [name] = parts;
    if (data) return this.data(name, parts);
    const isPlain = depth === 0 && !/^(\.|this\b)/.test(original);
    const up = isPlain && name !== undefined ? this.params.findIndex(names => names.includes(name)) : -1;
    if (up >= 0 && name !== undefined) return { kind: 'param', up, nth: this.params[up]?.indexOf(name) ?? 0 };
    const frame = this.frames[depth];
    if (!frame) return { kind: 'nowhere' };
    if (frame.self === 'other') return { kind: 'value' };
    if (name === undefined) return frame.self === 'inputs' ? { kind: 'inputs' } : { kind: 'value' };
    if (frame.given.has(name)) return { kind: 'value' };
    return { kind: 'input', key: name, certain: frame.self === 'inputs', whole: parts.length === 1 };
  }

  private data(name: string | undefined, parts: readonly string[]): Meaning {
    const [, key] = parts;
    if (name === 'root' && key === undefined) return { kind: 'inputs' };
    if (name === 'root' && key !== undefined) {
      return { kind: 'input', key, certain: true, whole: parts.length === 2 };
    }
    const isKnown = name === 'metadata' || (this.loops > 0 && LOOP_VARIABLES.has(name ?? ''));
    return { kind: 'data', isKnown };
  }
}
