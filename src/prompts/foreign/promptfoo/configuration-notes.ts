import type { YamlValue } from '../../../files/formats/yaml.ts';
import { type Conversion, valuesByKey } from './conversion.ts';

/** Warns that nothing attacks the models of a red team: `promptfoo eval` asks each prompt once there as well. */
export function warnOfRedTeam(entries: ReadonlyMap<string, YamlValue>, conversion: Conversion): void {
  const redTeam = entries.get('redteam');
  if (!redTeam || entries.has('tests') || entries.has('scenarios')) return;
  conversion.warn(redTeam, '`redteam` without `tests`: nothing is attacked, and each prompt runs once');
}

/**
 * Reports variables of `env` that could change an answer. Keys don't count: they come from the environment, never
 * from a file.
 */
export function noteEnvironment(env: YamlValue | undefined, conversion: Conversion): void {
  for (const [name, value] of env && !env.isEmpty ? valuesByKey(env, 'env') : []) {
    if (conversion.isForTest && SECRET_VARIABLE.test(name)) {
      conversion.tell(value, `\`${name}\` is taken from the environment`);
    } else if (!conversion.isForTest || ENVIRONMENT_VARIABLE.test(name)) {
      conversion.note(value, `\`${name}\` of \`env\` has no equivalent`);
    }
  }
}

/** Reports extensions, except those that promptfoo calls only after a verdict. */
export function noteExtensions(extensions: YamlValue | undefined, conversion: Conversion): void {
  if (!extensions || extensions.isEmpty) return;
  for (const extension of extensions.isList ? extensions.items('extensions') : [extensions]) {
    if (conversion.isForTest && /^file:\/\/.+:after(?:All|Each)$/u.test(extension.scalar ?? '')) {
      conversion.tell(extension, 'an extension that promptfoo calls after a verdict is left out');
    } else {
      conversion.note(extension, '`extensions` has no equivalent');
    }
  }
}

const ENVIRONMENT_VARIABLE = /^[A-Z][A-Z\d_]*$/u;
const SECRET_VARIABLE = /_(?:API_KEY|TOKEN|ACCESS_KEY_ID|SECRET_ACCESS_KEY)$/u;
