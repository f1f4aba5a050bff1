import type { Place } from '../../files/yaml-file.ts';
import type { Findings } from '../findings.ts';
import type { TemplateNode } from './node.ts';
import type { FieldUse, Scope } from './scope.ts';

/** The text of a partial, undefined where there is none of that name. */
export type PartialLookup = (name: string) => PartialText | undefined;

export interface PartialText {
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
