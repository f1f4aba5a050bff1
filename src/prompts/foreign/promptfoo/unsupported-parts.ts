import type { YamlValue } from '../../../files/formats/yaml.ts';
import type { ConversionContext, KnownKeys } from './conversion-context.ts';
import { readMergedValues } from './files/merged-values.ts';

const TOP_LEVEL_KEYS: KnownKeys = {
  supported: [
    'description',
    'prompts',
    'providers',
    'targets',
    'tests',
    'defaultTest',
    'scenarios',
    '$schema',
    // Keys that change no verdict.
    'assertionTemplates',
    'tags',
    'metadata',
    'outputPath',
    'sharing',
    'tracing',
    'redteam',
    'evaluateOptions',
    'commandLineOptions',
    'derivedMetrics',
    'writeLatestResults',
    'env',
    'extensions',
  ],
  unsupported: ['nunjucksFilters'],
};

/** Matches a name in capitals, such as `MODEL_NAME`. */
const ENVIRONMENT_VARIABLE = /^[A-Z][A-Z\d_]*$/u;

/** Matches the names of variables that hold a key. */
const SECRET_VARIABLE = /_(?:API_KEY|TOKEN|ACCESS_KEY_ID|SECRET_ACCESS_KEY)$/u;

/**
 * Matches an extension that promptfoo calls after a verdict, such as `file://hooks.js:afterAll`.
 */
const EXTENSION_AFTER_VERDICT = /^file:\/\/.+:after(?:All|Each)$/u;

/** Reports the parts of a configuration that are not carried out. */
export function reportUnsupportedParts(
  entries: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): void {
  conversion.reportKeys(entries, TOP_LEVEL_KEYS);
  reportEnvironment(entries.get('env'), conversion);
  reportExtensions(entries.get('extensions'), conversion);
  warnOfRedTeam(entries, conversion);
}

/**
 * Reports the variables of `env`. When the tests are run, only those in capitals count, and a key
 * changes no answer: it comes from the environment, never from a file.
 */
function reportEnvironment(env: YamlValue | undefined, conversion: ConversionContext): void {
  for (const [name, value] of env && !env.isEmpty ? readMergedValues(env, 'env') : []) {
    if (conversion.isForTest && SECRET_VARIABLE.test(name)) {
      conversion.reportHarmless(value, `\`${name}\` is taken from the environment`);
    } else if (!conversion.isForTest || ENVIRONMENT_VARIABLE.test(name)) {
      conversion.reportOmission(value, `\`${name}\` of \`env\` has no equivalent`);
    }
  }
}

/** Reports extensions. In a test, those that promptfoo calls only after a verdict are harmless. */
function reportExtensions(extensions: YamlValue | undefined, conversion: ConversionContext): void {
  if (!extensions || extensions.isEmpty) return;
  for (const extension of extensions.isList ? extensions.readItems('extensions') : [extensions]) {
    if (conversion.isForTest && EXTENSION_AFTER_VERDICT.test(extension.scalar ?? '')) {
      conversion.reportHarmless(
        extension,
        'an extension that promptfoo calls after a verdict is left out',
      );
    } else {
      conversion.reportOmission(extension, '`extensions` has no equivalent');
    }
  }
}

/**
 * Warns that nothing attacks the models of a red team: `promptfoo eval` asks each prompt once there
 * as well.
 */
function warnOfRedTeam(
  entries: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): void {
  const redTeam = entries.get('redteam');
  if (!redTeam || entries.has('tests') || entries.has('scenarios')) return;
  conversion.reportWarning(
    redTeam,
    '`redteam` without `tests`: nothing is attacked, and each prompt runs once',
  );
}
