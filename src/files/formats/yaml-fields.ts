import { didYouMean } from '../../utils/nearest-name.ts';
import { FileFault } from './file-fault.ts';
import type { YamlEntry, YamlValue } from './yaml.ts';

/** A format for a field's text; the rule is a sentence without the field's name. */
export interface FieldFormat {
  readonly pattern: RegExp;
  readonly rule: string;
}

/** The fields of a map with a fixed set of names. */
export class YamlFields {
  private constructor(
    /** The name of the map in faults. */
    private readonly mapName: string,
    private readonly line: number,
    private readonly entries: ReadonlyMap<string, YamlEntry>,
  ) {}

  /**
   * Reads the fields of a map.
   *
   * @param line the line of faults that concern no field; default that of the value
   * @param faults collects faults of single fields, which are left out; default the first one
   * throws
   * @throws {FileFault} if the value is not a map, or has a field that is not in `names`
   */
  static read(
    value: YamlValue,
    mapName: string,
    names: readonly string[],
    { line: ownLine = value.line, faults }: { line?: number; faults?: FileFault[] } = {},
  ): YamlFields {
    const entries = value.readEntries(mapName, faults);
    for (const { key, line } of entries.filter(({ key }) => !names.includes(key))) {
      const fault = new FileFault(
        line,
        `\`${key}\` is not a key of ${mapName}, which takes ${names.join(', ')}${didYouMean(key, names)}`,
      );
      if (!faults) throw fault;
      faults.push(fault);
    }
    return new YamlFields(mapName, ownLine, new Map(entries.map(entry => [entry.key, entry])));
  }

  findValue(key: string): YamlValue | undefined {
    const value = this.entries.get(key)?.value;
    return value?.isEmpty === false ? value : undefined;
  }

  readText(key: string, format?: FieldFormat): string | undefined {
    const text = this.findValue(key)?.readText(key);
    if (text !== undefined && format?.pattern.test(text) === false) {
      throw this.createFault(key, format.rule);
    }
    return text;
  }

  requireText(key: string): string {
    const text = this.readText(key);
    return text === undefined || text === '' ? this.refuseMissing(key) : text;
  }

  /** Returns a field that must be one of a few texts; undefined if it is empty. */
  readChoice<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const text = this.readText(key);
    if (text === undefined) return undefined;
    const match = choices.find(choice => choice === text);
    if (match !== undefined) return match;
    throw this.createFault(key, `must be ${formatAlternatives(choices)}`);
  }

  refuseMissing(key: string): never {
    throw new FileFault(this.line, `${this.mapName} needs a \`${key}\``);
  }

  /** Returns a fault at the line of a field. @param problem a sentence without the field's name */
  createFault(key: string, problem: string): FileFault {
    return new FileFault(this.entries.get(key)?.line ?? this.line, `${key} ${problem}`);
  }
}

/**
 * Lists choices. The formats of a language are loaded only now, because that takes longer than to
 * read a file.
 */
function formatAlternatives(choices: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(choices);
}
