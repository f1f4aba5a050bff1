import { FileFault } from '../../files/formats/file-fault.ts';
import { withoutUndefined } from '../../files/formats/json.ts';
import type { YamlEntry, YamlValue } from '../../files/formats/yaml.ts';
import { type FieldFormat, YamlFields } from '../../files/formats/yaml-fields.ts';
import { INTERFACE_NAMES, type InterfaceName, type Provider } from '../model-entry.ts';
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

/** Interfaces that can't list the models that a key may use. */
const INTERFACES_WITHOUT_LIST: ReadonlySet<InterfaceName> = new Set([
  'azure',
  'bedrock',
  'vertexai',
]);

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
  const namedInterface = fields.readChoice('engine', INTERFACE_NAMES);
  const address =
    baseUrl === undefined && base
      ? inheritAddress(base, namedInterface)
      : readAddress(baseUrl ?? '', namedInterface, base);
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
  | 'addressName'
  | 'baseUrl'
  | 'interfaceName'
  | 'listsModels'
  | 'missingVariables'
  | 'addressFault'
  | 'hasCustomBaseUrl'
>;

/** Returns the address of a known provider, and its interface unless the file names another. */
function inheritAddress(
  {
    addressName,
    baseUrl,
    interfaceName: inheritedInterface,
    listsModels,
    missingVariables,
    addressFault,
    hasCustomBaseUrl,
  }: Provider,
  interfaceName: InterfaceName = inheritedInterface,
): AddressAndInterface {
  return withoutUndefined({
    baseUrl,
    interfaceName,
    addressName,
    listsModels,
    missingVariables,
    addressFault,
    hasCustomBaseUrl,
  });
}

/**
 * Returns the address in the file, and the interface that the file names or the address implies.
 */
function readAddress(
  address: string,
  namedInterface: InterfaceName | undefined,
  base: Provider | undefined,
): AddressAndInterface {
  const data = base && findProviderData(base.name);
  const defaultInterface = namedInterface ?? data?.interfaceName ?? 'openai';
  const baseUrl = normaliseBaseUrl(address, {
    name: base?.name ?? '',
    interfaceName: defaultInterface,
    baseUrl: data?.baseUrl ?? '',
  });
  const impliedInterface = data ? pickInterface(data, baseUrl) : defaultInterface;

  return withoutUndefined({
    baseUrl,
    interfaceName: namedInterface ?? impliedInterface,
    listsModels: INTERFACES_WITHOUT_LIST.has(defaultInterface) ? false : undefined,
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
