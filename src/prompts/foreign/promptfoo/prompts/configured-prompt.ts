import { FileFault } from '../../../../files/formats/file-fault.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { SourcePlace } from '../files/source-files.ts';
import type { PromptNames } from './prompt-references.ts';

/** A prompt of a configuration, read only if it is the chosen one. */
export interface ConfiguredPrompt extends PromptNames {
  readonly place: SourcePlace;
  readonly text: string;
  /** The reason that it can't be expressed, regardless of its text. */
  readonly fault?: string;
  /** The settings that go with it and replace the providers' own. */
  readonly config?: YamlValue | undefined;
  /** The program that makes it from a case's variables on standard input. */
  readonly program?: readonly [string, ...string[]];
  /** True if the program reads the label of its provider. */
  readonly readsLabel?: boolean;
}

/** A prompt that a prompt file can't express, but Nunjucks can render. */
export class BeyondPromptFile extends FileFault {
  constructor({ file, line, column }: SourcePlace, what: string) {
    super(line, what, column, file);
  }
}

/** Counts the line ends in a text. */
export function countLineEnds(text: string): number {
  return text.split('\n').length - 1;
}
