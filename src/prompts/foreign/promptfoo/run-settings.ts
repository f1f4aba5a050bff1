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

/** Settings that select some of the tests. */
const SELECTIONS = ['filterRange', 'filterSample'];

/**
 * Reads `evaluateOptions`, over which `commandLineOptions` win. Reports those that leave out tests.
 */
export function readRunSettings(
  entries: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): RunSettings {
  const evaluateOptions = readOptionEntries('evaluateOptions', entries);
  const commandLineOptions = readOptionEntries('commandLineOptions', entries);
  for (const [key, value] of [...evaluateOptions, ...commandLineOptions]) {
    if (SELECTIONS.includes(key)) conversion.reportOmission(value, `\`${key}\` has no equivalent`);
  }

  const count = (key: string): number | undefined => {
    const commandLineValue = Number(commandLineOptions.get(key)?.json() ?? Number.NaN);
    const value = Number.isNaN(commandLineValue)
      ? evaluateOptions.get(key)?.json()
      : commandLineValue;
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
      ? value
      : undefined;
  };

  return { repeat: count('repeat'), maxConcurrency: count('maxConcurrency') };
}

function readOptionEntries(
  key: string,
  entries: ReadonlyMap<string, YamlValue>,
): Map<string, YamlValue> {
  const node = entries.get(key);
  return node && !node.isEmpty ? readMergedValues(node, key) : new Map<string, YamlValue>();
}
