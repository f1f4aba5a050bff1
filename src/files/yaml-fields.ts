import { FileFault } from './file-fault.ts';
import type { YamlEntry, YamlValue } from './yaml.ts';

/** What a field may hold, and the rule as a sentence that begins after the field's name. */
export interface YamlForm {
  readonly pattern: RegExp;
  readonly rule: string;
}

const EITHER = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** The fields of a map whose names are known beforehand. */
export class YamlFields {
  private constructor(
    /** The map as faults speak of it. */
    private readonly owner: string,
    private readonly line: number,
    private readonly entries: ReadonlyMap<string, YamlEntry>,
  ) {}

  /**
   * @param line where faults stand that concern no field; default that of the value
   * @param faults takes in what concerns one field alone, which is left out then
   * @throws {FileFault} for what is not a map; without `faults` for a field that is not among `names` too
   */
  static of(
    value: YamlValue,
    owner: string,
    names: readonly string[],
    { line: owned = value.line, faults }: { line?: number; faults?: FileFault[] } = {},
  ): YamlFields {
    const entries = value.entries(owner, faults);
    for (const { key, line } of entries.filter(({ key }) => !names.includes(key))) {
      const fault = new FileFault(line, `\`${key}\` is not known here: ${owner} takes ${names.join(', ')}`);
      if (!faults) throw fault;
      faults.push(fault);
    }
    return new YamlFields(owner, owned, new Map(entries.map(entry => [entry.key, entry])));
  }

  value(key: string): YamlValue | undefined {
    const value = this.entries.get(key)?.value;
    return value?.isEmpty === false ? value : undefined;
  }

  text(key: string, form?: YamlForm): string | undefined {
    const text = this.value(key)?.text(key);
    if (text !== undefined && form?.pattern.test(text) === false) throw this.fault(key, form.rule);
    return text;
  }

  required(key: string): string {
    const text = this.text(key);
    return text === undefined || text === '' ? this.missing(key) : text;
  }

  /** One of a few texts; undefined if nothing was written. */
  oneOf<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    const chosen = choices.find(choice => choice === text);
    if (chosen === undefined) throw this.fault(key, `must be ${EITHER.format(choices)}`);
    return chosen;
  }

  missing(key: string): never {
    throw new FileFault(this.line, `${this.owner} needs a \`${key}\``);
  }

  /** A fault at the line of a field, as a sentence that begins after its name. */
  fault(key: string, what: string): FileFault {
    return new FileFault(this.entries.get(key)?.line ?? this.line, `${key} ${what}`);
  }
}
