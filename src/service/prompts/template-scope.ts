import { FileFault } from '../files/yaml-file.ts';
import type { LoopPart, TemplateValue } from './template-node.ts';

/** What `this` stands for: all inputs together, or one value of them. */
type Self = 'inputs' | TemplateValue;

type OnField = (key: string, line: number, shown: boolean) => void;

interface Frame {
  readonly self: Self;
  /** How many loops stand around. */
  readonly loops: number;
  /** Block parameters, as in `{{#with note as |n|}}`. */
  readonly names: ReadonlyMap<string, TemplateValue>;
}

/** Resolves the paths of a template while it is read, so that a name nobody knows is found before it is run. */
export class Scope {
  private constructor(
    private readonly frames: readonly Frame[],
    /** Told of each input that is used, and where. */
    private readonly onField: OnField,
  ) {}

  static root(onField: OnField): Scope {
    return new Scope([{ self: 'inputs', loops: 0, names: new Map() }], onField);
  }

  within(self: Self, names: ReadonlyMap<string, TemplateValue> = new Map()): Scope {
    return new Scope([{ self, loops: this.loops, names }, ...this.frames], this.onField);
  }

  inLoop(self: TemplateValue, names: ReadonlyMap<string, TemplateValue>): Scope {
    return new Scope([{ self, loops: this.loops + 1, names }, ...this.frames], this.onField);
  }

  get loops(): number {
    return this.frames[0]?.loops ?? 0;
  }

  /** Whether a path means all inputs together: `this` at the top, `@root`, or `..` back to it. */
  isInputs(path: hbs.AST.PathExpression): boolean {
    if (path.data) return path.parts.length === 1 && path.parts[0] === 'root';
    return path.parts.length === 0 && this.frames[path.depth]?.self === 'inputs';
  }

  /** What a path leads to; `shown` tells a value that is put into the text from one that is only asked for. */
  value(path: hbs.AST.PathExpression, shown: boolean): TemplateValue {
    const line = path.loc.start.line;
    if (path.data) return this.data(path, line, shown);
    const frame = this.frames[path.depth];
    if (!frame) throw new FileFault(line, `\`${path.original}\` leads out of the template`);
    const [name, ...rest] = path.parts;
    if (name === undefined) return this.self(frame, path, line);
    if (rest.length > 0) {
      throw new FileFault(line, `\`${path.original}\`: an input is a text and has no parts`);
    }
    return this.named(name) ?? this.field(name, frame, path, shown);
  }

  /** The input a path names, where only an input will do. */
  inputName(path: hbs.AST.PathExpression): string {
    const parts = path.data && path.parts[0] === 'root' ? path.parts.slice(1) : path.parts;
    const [key] = parts;
    const ofInputs = path.data ? path.parts[0] === 'root' : this.frames[path.depth]?.self === 'inputs';
    if (key !== undefined && parts.length === 1 && ofInputs) return key;
    throw new FileFault(path.loc.start.line, `\`${path.original}\` names no input`);
  }

  private named(name: string): TemplateValue | undefined {
    const frame = this.frames.find(({ names }) => names.has(name));
    const value = frame?.names.get(name);
    return frame && value && this.seenFromHere(value, frame);
  }

  private self(frame: Frame, path: hbs.AST.PathExpression, line: number): TemplateValue {
    if (frame.self !== 'inputs') return this.seenFromHere(frame.self, frame);
    throw new FileFault(line, `\`${path.original}\` stands for all inputs together: name one of them`);
  }

  /** A loop is counted from where its value is used, not from where it was named. */
  private seenFromHere(value: TemplateValue, frame: Frame): TemplateValue {
    return value.kind === 'loop' ? { ...value, up: value.up + this.loops - frame.loops } : value;
  }

  private field(name: string, frame: Frame, path: hbs.AST.PathExpression, shown: boolean): TemplateValue {
    const { line } = path.loc.start;
    if (frame.self !== 'inputs') {
      throw new FileFault(
        line,
        `\`${path.original}\` is not known inside this block: write \`@root.${name}\``,
      );
    }
    this.onField(name, line, shown);
    return { kind: 'field', key: name };
  }

  private data(path: hbs.AST.PathExpression, line: number, shown: boolean): TemplateValue {
    const [name, key, ...rest] = path.parts;
    if (name === 'root' && key !== undefined && rest.length === 0) {
      this.onField(key, line, shown);
      return { kind: 'field', key };
    }
    const part = LOOP_PARTS.find(known => known === name);
    if (part === undefined || key !== undefined || path.depth > 0 || this.loops === 0) {
      throw new FileFault(line, `\`${path.original}\` is not known here`);
    }
    return { kind: 'loop', part, up: 0 };
  }
}

const LOOP_PARTS: readonly LoopPart[] = ['key', 'index', 'first', 'last'];
