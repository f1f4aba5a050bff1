import { FileFault, type FilePosition } from '../files/formats/file-fault.ts';

/** Maximum number of findings. More would not help, and finding duplicates takes time. */
const MAX_FINDINGS = 200;

/** A fault, which makes a prompt file unusable, or a note about it. */
export interface Finding extends FilePosition {
  readonly severity: 'fault' | 'note';
  readonly file: string;
  readonly message: string;
}

/** A prompt file can't be used. The message is `file:line: problem` of its first fault. */
export class InvalidPromptFileError extends Error {
  readonly code = 'INVALID_PROMPT_FILE';

  constructor(
    readonly file: string,
    readonly line: number,
    readonly problem: string,
    readonly findings: readonly Finding[] = [],
  ) {
    super(`${file}:${line}: ${problem}`);
  }
}

/** Collects the findings of one file, so that a fault does not hide the next. */
export class Findings {
  readonly #findings: Finding[];

  constructor(
    readonly file: string,
    earlier: readonly Finding[] = [],
  ) {
    this.#findings = [...earlier];
  }

  addFault(place: FilePosition, message: string, file = this.file): void {
    this.#add('fault', place, message, file);
  }

  addNote(place: FilePosition, message: string, file = this.file): void {
    this.#add('note', place, message, file);
  }

  /** Runs an action. A FileFault that it throws becomes a finding, and the result is undefined. */
  attempt<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      this.addFault(error, error.problem);
      return undefined;
    }
  }

  get hasFaults(): boolean {
    return this.#findings.some(({ severity }) => severity === 'fault');
  }

  hasFaultAt({ line, column }: FilePosition): boolean {
    return this.#findings.some(
      finding => finding.severity === 'fault' && finding.line === line && finding.column === column,
    );
  }

  /**
   * Returns the findings in the order of the file; those of other files, such as partials, come
   * last.
   */
  list(): Finding[] {
    const getFileRank = ({ file }: Finding): number => (file === this.file ? 0 : 1);
    return this.#findings.toSorted(
      (a, b) => getFileRank(a) - getFileRank(b) || a.line - b.line || a.column - b.column,
    );
  }

  #add(
    severity: Finding['severity'],
    { line, column }: FilePosition,
    message: string,
    file: string,
  ): void {
    // Notes must not hide a fault.
    const findingsOfSeverity = this.#findings.filter(other => other.severity === severity);
    if (findingsOfSeverity.length >= MAX_FINDINGS) return;
    const finding = { severity, file, line, column, message };
    const isRepeated = this.#findings.some(
      other =>
        other.line === line &&
        other.column === column &&
        other.message === message &&
        other.file === file,
    );
    if (!isRepeated) this.#findings.push(finding);
  }
}

/** Returns an error that names the first fault and holds all findings. */
export function toPromptFileError(findings: Findings): InvalidPromptFileError {
  const list = findings.list();
  const first = list.find(({ severity }) => severity === 'fault');
  return new InvalidPromptFileError(
    first?.file ?? findings.file,
    first?.line ?? 1,
    first?.message ?? '',
    list,
  );
}
