import type { JsonValue } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import type { ConversionContext } from './conversion-context.ts';
import { readMergedValues } from './files/merged-values.ts';

/** The settings with which a configuration runs its tests. */
export interface RunSettings {
  /** The number of repetitions of each case, unless its test sets it. */
  readonly repeat: number | undefined;
  /** Maximum number of cases at a time. */
  readonly maxConcurrency: number | undefined;
}

/** Keys of settings with which promptfoo runs only some of the tests. */
const SELECTION_KEYS = ['filterRange', 'filterSample'];

/**
 * Reads `commandLineOptions`, and `evaluateOptions` for what they don't set. Reports the settings
 * that leave out tests.
 */
export function readRunSettings(
  entries: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): RunSettings {
  const evaluateOptions = readOptionEntries('evaluateOptions', entries);
  const commandLineOptions = readOptionEntries('commandLineOptions', entries);
  for (const [key, value] of [...evaluateOptions, ...commandLineOptions]) {
    if (SELECTION_KEYS.includes(key)) {
      conversion.reportOmission(value, `\`${key}\` has no equivalent`);
    }
  }

  const readSetting = (key: string): number | undefined => {
    const commandLineValue = toNumber(commandLineOptions.get(key)?.toJson());
    const value = commandLineValue ?? evaluateOptions.get(key)?.toJson();
    return isPositiveCount(value) ? value : undefined;
  };

  return { repeat: readSetting('repeat'), maxConcurrency: readSetting('maxConcurrency') };
}

/**
 * Returns a command line option as a number, because promptfoo reads `repeat: "3"` there like the
 * flag `--repeat 3`; undefined for any other value.
 */
function toNumber(value: JsonValue | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}

/** Returns true for a whole number above 0; promptfoo ignores any other value. */
export function isPositiveCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function readOptionEntries(
  key: string,
  entries: ReadonlyMap<string, YamlValue>,
): Map<string, YamlValue> {
  const node = entries.get(key);
  return node && !node.isEmpty ? readMergedValues(node, key) : new Map<string, YamlValue>();
}
