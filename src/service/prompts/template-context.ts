import type { Scope } from './template-scope.ts';

/** What the parts of a template are read with. */
export interface CompileContext {
  readonly scope: Scope;
  /** Told of each picture that is used, and where. */
  readonly onImage: (key: string, line: number) => void;
  /** Whether the schema declares an input of this name. */
  readonly declares: (key: string) => boolean;
  /** How many blocks stand around. */
  readonly depth: number;
}
