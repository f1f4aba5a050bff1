import { FileFault } from '../../files/formats/file-fault.ts';
import { withoutUndefined } from '../../files/formats/json.ts';
import type { YamlEntry, YamlValue } from '../../files/formats/yaml.ts';
import { type FieldFormat, YamlFields } from '../../files/formats/yaml-fields.ts';
import { INTERFACES, type InterfaceName, type Provider } from '../model-entry.ts';
import { findBaseUrlFault, normaliseBaseUrl } from '../providers/provider-address.ts';
import {
  findProviderData,
  isLoopback,
  pickInterface,
  resolveProviderName,
} from '../providers/providers.ts';

const KEY_VARIABLE_FORMAT: FieldFormat = {
  pattern: /^[A-Za-z_]\w*$/,
  rule: 'names the environment variable that holds the key; the key itself does not belong in this file',
};

const PROVIDER_FIELDS = ['baseUrl', 'apiKeyEnv', 'engine', 'headers', 'batch'];

/**
 * Reads an entry of `providers`. One with the name of a known provider inherits the fields that it
 * does not set.
 *
 * @param knownByName the known providers, with the addresses of the environment
 * @throws {FileFault} if the entry is invalid
 */
export function readProvider(
  { key: name, line, value }: YamlEntry,
  knownByName: ReadonlyMap<string, Provider> = new Map(),
): Provider {
  const fields = YamlFields.read(value, `the provider \`${name}\``, PROVIDER_FIELDS, { line });
  const base = knownByName.get(resolveProviderName(name));
  const baseUrl = readBaseUrl(fields, base);
  const apiKeyEnv = fields.readText('apiKeyEnv', KEY_VARIABLE_FORMAT);
  const headers = fields.findValue('headers');
  const batch = fields.readChoice('batch', ['true', 'false']);
  const engine = fields.readChoice('engine', INTERFACES);
  const address =
    baseUrl === undefined && base
      ? inheritAddress(base, engine)
      : readAddress(baseUrl ?? '', engine, base);
  const keyVariables = apiKeyEnv === undefined ? (base?.keyVariables ?? []) : [apiKeyEnv];

  return withoutUndefined({
    name,
    ...address,
    keyVariables,
    needsKey: apiKeyEnv !== undefined || (keyVariables.length > 0 && !isLoopback(address.baseUrl)),
    takesBatches: batch === undefined ? (base?.takesBatches ?? false) : batch === 'true',
    headers: headers && readHeaders(headers),
  });
}

/** Reads the address, which only a known provider may leave out. */
function readBaseUrl(fields: YamlFields, base: Provider | undefined): string | undefined {
  const baseUrl = base ? fields.readText('baseUrl') : fields.requireText('baseUrl');
  const fault = baseUrl === undefined ? undefined : findBaseUrlFault(baseUrl);
  if (fault !== undefined) throw fields.createFault('baseUrl', fault);
  return baseUrl;
}

type AddressAndInterface = Pick<
  Provider,
  'addressName' | 'baseUrl' | 'engine' | 'listsModels' | 'missingVariables' | 'fault' | 'isMoved'
>;

/** Returns the address of a known provider, and its interface unless the file names another. */
function inheritAddress(
  {
    addressName,
    baseUrl,
    engine: baseEngine,
    listsModels,
    missingVariables,
    fault,
    isMoved,
  }: Provider,
  engine: InterfaceName = baseEngine,
): AddressAndInterface {
  return withoutUndefined({
    baseUrl,
    engine,
    addressName,
    listsModels,
    missingVariables,
    fault,
    isMoved,
  });
}

/**
 * Returns the address in the file, and the interface that the file names or the address implies.
 */
function readAddress(
  address: string,
  engine: InterfaceName | undefined,
  base: Provider | undefined,
): AddressAndInterface {
  const data = base && findProviderData(base.name);
  const engineName = engine ?? data?.engine ?? 'openai';
  const form = { name: base?.name ?? '', engine: engineName, baseUrl: data?.baseUrl ?? '' };
  const baseUrl = normaliseBaseUrl(address, form);

  return withoutUndefined({
    baseUrl,
    engine: engine ?? (data ? pickInterface(data, baseUrl) : engineName),
    listsModels: ['azure', 'bedrock', 'vertexai'].includes(engineName) ? false : undefined,
  });
}

/** Returns true for a text that HTTP allows as the name of a header. */
export function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

function readHeaders(value: YamlValue): Record<string, string> {
  const headers = value.readEntries('headers').map(({ key, line, value }) => {
    const text = value.readText(`the header \`${key}\``);

    if (!isHeaderName(key)) {
      throw new FileFault(line, `\`${key}\` is not a valid header name`);
    }

    if (!/^[\t\x20-\x7e]*$/.test(text)) {
      throw new FileFault(line, `the header \`${key}\` must be plain ASCII`);
    }

    return [key, text] as const;
  });
  return Object.fromEntries(headers);
}
