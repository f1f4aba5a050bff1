import { FileFault, isEmpty, type YamlEntry, type YamlReader, type YamlValue } from './yaml-file.ts';

/** The fields of a map whose names are known beforehand. */
export class YamlFields {
  private constructor(
    /** The map as faults speak of it. */
    private readonly owner: string,
    private readonly line: number,
    private readonly entries: ReadonlyMap<string, YamlEntry>,
    private readonly read: YamlReader,
  ) {}

  /** Throws FileFault for what is not a map, or has a field that is not among `known`. */
  static of(value: YamlValue, read: YamlReader, owner: string, known: readonly string[]): YamlFields {
    const entries = read.entries(value, owner);
    const stranger = entries.find(({ key }) => !known.includes(key));
    if (stranger) {
      const what = `\`${stranger.key}\` is not known here: ${owner} takes ${known.join(', ')}`;
      throw new FileFault(stranger.line, what);
    }
    return new YamlFields(owner, value.line, new Map(entries.map(entry => [entry.key, entry])), read);
  }

  value(key: string): YamlValue | undefined {
    const value = this.entries.get(key)?.value;
    return value && !isEmpty(value) ? value : undefined;
  }

  text(key: string): string | undefined {
    const value = this.value(key);
    return value && this.read.text(value, key);
  }

  required(key: string): string {
    const text = this.text(key);
    if (text === undefined || text === '') throw new FileFault(this.line, `${this.owner} needs a \`${key}\``);
    return text;
  }

  /** A fault at the line of a field. */
  fault(key: string, what: string): FileFault {
    return new FileFault(this.entries.get(key)?.line ?? this.line, what);
  }
}
