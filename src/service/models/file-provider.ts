import { YamlFields } from '../yaml-fields.ts';
import type { YamlEntry, YamlReader } from '../yaml-file.ts';
import type { Provider } from './entry.ts';

const ENVIRONMENT_VARIABLE = /^[A-Za-z_]\w*$/;

/** Reads an entry of `providers`. Throws FileFault. */
export function readProvider({ key: name, line, value }: YamlEntry, read: YamlReader): Provider {
  const fields = YamlFields.of({ ...value, line }, read, `the provider \`${name}\``, [
    'baseUrl',
    'apiKeyEnv',
  ]);
  const baseUrl = fields.required('baseUrl');
  const fault = urlFault(baseUrl);
  if (fault !== undefined) throw fields.fault('baseUrl', fault);
  const apiKeyEnv = fields.text('apiKeyEnv');
  if (apiKeyEnv === undefined) return { name, baseUrl };
  if (ENVIRONMENT_VARIABLE.test(apiKeyEnv)) return { name, baseUrl, apiKeyEnv };
  throw fields.fault(
    'apiKeyEnv',
    'apiKeyEnv names the environment variable that holds the key; the key itself does not belong in this file',
  );
}

function urlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return 'baseUrl must be an http or https URL';
  return url.username === '' && url.password === ''
    ? undefined
    : 'baseUrl can’t carry a user name or password';
}
