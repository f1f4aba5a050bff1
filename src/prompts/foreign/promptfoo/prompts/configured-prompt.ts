import { FileFault } from '../../../../files/formats/file-fault.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { SourcePlace } from '../files/source-files.ts';
import type { PromptNames } from './prompt-references.ts';

/** A prompt of a configuration. Its text is parsed only if it is the chosen one. */
export interface ConfiguredPrompt extends PromptNames {
  readonly place: SourcePlace;
  readonly text: string;
  /** The reason that it can't be expressed, regardless of its text. */
  readonly fault?: string;
  /** Its settings, which override those of the providers. */
  readonly config?: YamlValue | undefined;
  /** The program that makes its text from a case's variables on standard input. */
  readonly program?: readonly [string, ...string[]];
  /** True if the program reads the label of its provider. */
  readonly readsLabel?: boolean;
}

/** A prompt can't be expressed by a prompt file, but Nunjucks can render it. */
export class UnsupportedPromptFault extends FileFault {
  constructor({ file, line, column }: SourcePlace, message: string) {
    super(line, message, column, file);
  }
}

/** Counts the line ends in a text. */
export function countLineEnds(text: string): number {
  return text.split('\n').length - 1;
}
