import { type JsonObject, type JsonValue, parseJson } from '../../../../../files/formats/json.ts';
import { parseYaml, type YamlValue } from '../../../../../files/formats/yaml.ts';
import { isLoopbackHost } from '../../../../../wire/addresses.ts';
import type { ConversionContext } from '../../conversion-context.ts';
import { readMergedValues } from '../../files/merged-values.ts';
import { mentionsEnvironment } from '../../nunjucks/fill-variables.ts';
import type { EntryFields, WrittenProvider } from '../promptfoo-provider.ts';
import { convertBody, convertPlaceholders, convertText } from './entry-placeholders.ts';
import { parseRawRequest } from './raw-request.ts';
import { buildResponseTransform, toJmespath } from './response-transform.ts';

/** Keys of a `config` that an entry expresses, or that change no answer. */
const ADDRESS_CONFIG_KEYS = [
  'url',
  'method',
  'headers',
  'body',
  'queryParams',
  'timeout',
  'timeoutMs',
  'transformResponse',
  'responseParser',
  'maxRetries',
  'request',
  'useHttps',
];

/** Keys with which promptfoo asks an address in another way, or reads its answer in another way. */
const UNSUPPORTED_ADDRESS_KEYS = [
  'multipart',
  'tools',
  'tool_choice',
  'transformToolsFormat',
  'session',
  'sessionParser',
  'sessionSource',
  'transformRequest',
  'validateStatus',
  'tokenEstimation',
  'auth',
  'signatureAuth',
  'tls',
];

const MS_PER_SECOND = 1000;

/** Matches a variable in a text, such as `{{city}}` or `{{ user.name }}`. */
const VARIABLE_TAG = /(\{\{[^{}]*\}\})/u;

/** Matches a field of a variable, such as `{{context.uuid}}`. */
const FIELD_OF_VARIABLE = /\{\{\s*([A-Za-z_]\w*)(?:\.\w+)+\s*\}\}/gu;

/** Matches `{{ name | default("none") }}` within JSON. */
const VARIABLE_WITH_DEFAULT =
  /\{\{\s*([A-Za-z_]\w*)\s*\|\s*default\(\s*(?:'([^'"\\]*)'|\\"([^'"\\]*)\\")\s*\)\s*\}\}/gu;

/**
 * Returns the fields of the entry for an address; undefined, with a note, if an entry can't express
 * it.
 */
export function readAddressFields(
  provider: WrittenProvider,
  conversion: ConversionContext,
): EntryFields | undefined {
  const { id, config } = provider;
  const configEntries = config ? readMergedValues(config, 'config') : new Map<string, YamlValue>();
  try {
    const entries = mergeRawRequest(provider, configEntries, conversion);
    for (const [key, value] of entries) {
      if (ADDRESS_CONFIG_KEYS.includes(key)) continue;
      if (!conversion.isForTest || UNSUPPORTED_ADDRESS_KEYS.includes(key)) {
        throw new NoEquivalentError(value, `it has \`${key}\``);
      }
      conversion.reportHarmless(
        value,
        `\`${key}\` of a provider's config is a key that promptfoo ignores too`,
      );
    }

    const address = readUrl(provider, entries, conversion);
    const request = readRequestFields(provider, entries, conversion);
    const { output, transform } = readResponseFields(provider, entries, conversion);
    const timeoutMs = (entries.get('timeoutMs') ?? entries.get('timeout'))?.toJson();
    const fields = {
      address,
      ...request,
      ...(output !== undefined && output !== '' && { output }),
      ...formatTimeout(timeoutMs),
    };

    return { fields, ...(transform !== undefined && { transform }) };
  } catch (error) {
    if (!(error instanceof NoEquivalentError)) throw error;
    conversion.reportOmission(
      error.place,
      `the provider \`${id}\` has no equivalent: ${error.message}`,
    );
    return undefined;
  }
}

/** A part of a provider that no entry of a models file can express. */
class NoEquivalentError extends Error {
  constructor(
    readonly place: YamlValue,
    message: string,
  ) {
    super(message);
  }
}

/** Returns the `timeout` of an entry, in whole seconds; no field for less than one. */
function formatTimeout(timeoutMs: JsonValue | undefined): { readonly timeout?: string } {
  if (typeof timeoutMs !== 'number' || timeoutMs < MS_PER_SECOND) return {};
  return { timeout: `${Math.floor(timeoutMs / MS_PER_SECOND)}s` };
}

/** The settings of a provider by key. */
type ConfigEntries = ReadonlyMap<string, YamlValue>;

/** Returns the settings, overridden by those of `request`. @throws {NoEquivalentError} */
function mergeRawRequest(
  { id }: WrittenProvider,
  entries: ConfigEntries,
  conversion: ConversionContext,
): ConfigEntries {
  const request = entries.get('request');
  if (!request) return entries;

  const { scalar = '' } = request;
  const text = scalar.startsWith('file://') ? conversion.files.read(scalar, request).text : scalar;
  const isSecure =
    (entries.get('url')?.scalar ?? id).startsWith('https') ||
    entries.get('useHttps')?.toJson() === true;
  const settings = parseRawRequest(text, isSecure ? 'https' : 'http');
  if (!settings) {
    throw new NoEquivalentError(
      request,
      "its `request` can't be read, or has variables in a body that is not JSON",
    );
  }

  const requestEntries = readMergedValues(
    parseYaml(JSON.stringify(settings), request.line),
    'request',
  );
  return new Map([...entries, ...requestEntries]);
}

/** Returns the address with its query. @throws {NoEquivalentError} */
function readUrl(
  { id, place }: WrittenProvider,
  entries: ConfigEntries,
  conversion: ConversionContext,
): string {
  const urlPlace = entries.get('url') ?? place;
  const addressText = convertText(fillOriginVariable(entries.get('url')?.scalar ?? id, conversion));
  const query = formatQuery(entries.get('queryParams')?.toJson() ?? {});
  if (addressText === undefined || query === undefined || !/^https?:\/\//u.test(addressText)) {
    const [, name] = /^\$\{env\.(\w+)\}/u.exec(addressText ?? '') ?? [];
    throw new NoEquivalentError(
      urlPlace,
      name === undefined ? 'its address has more than variables' : `its address needs ${name}`,
    );
  }

  const address =
    query === '' ? addressText : `${addressText}${addressText.includes('?') ? '&' : '?'}${query}`;
  const [origin = ''] = /^https?:\/\/[^/?#]*/u.exec(address) ?? [];
  if (origin.includes('$') || !isAllowedOrigin(origin)) {
    throw new NoEquivalentError(
      urlPlace,
      'its host is not literal, or it uses http and is not this machine',
    );
  }

  return address;
}

/**
 * Returns an address with the environment variable at its beginning filled in, if its value is an
 * address. An entry that is only shown gets a stand-in, because the value may hold a secret.
 */
function fillOriginVariable(address: string, { env, runsPrograms }: ConversionContext): string {
  return address.replace(/^\{\{\s*env\.(\w+)\s*\}\}/u, (tag, name: string) => {
    const value = Object.hasOwn(env, name) ? (env[name] ?? '') : '';
    if (!/^https?:\/\//u.test(value)) return tag;
    return runsPrograms ? value : `https://value-of-${name}`;
  });
}

/** Returns the query of an address; undefined if a value has more than variables. */
function formatQuery(query: JsonValue): string | undefined {
  const pairs: string[] = [];
  for (const [key, value] of Object.entries(query ?? {})) {
    const encodedValue = encodeQueryValue(String(value));
    if (encodedValue === undefined) return undefined;
    pairs.push(`${encodeURIComponent(key)}=${encodedValue}`);
  }
  return pairs.join('&');
}

/**
 * Returns a value of a query, encoded, with our placeholders, whose values are encoded when they
 * are filled in; undefined if it has more than variables.
 */
function encodeQueryValue(value: string): string | undefined {
  if (convertText(value) === undefined) return undefined;
  const encodedPieces = value
    .split(VARIABLE_TAG)
    .map((piece, index) => (index % 2 === 1 ? piece : encodeURIComponent(piece)));
  return convertText(encodedPieces.join(''));
}

/** Returns true if an origin has https or is this machine. */
function isAllowedOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || isLoopbackHost(hostname);
}

/** Returns the method, the headers and the body, without defaults. @throws {NoEquivalentError} */
function readRequestFields(
  provider: WrittenProvider,
  entries: ConfigEntries,
  conversion: ConversionContext,
): JsonObject {
  const { place } = provider;
  const prepare = (value: JsonValue): JsonValue =>
    withDefaultInputs(withoutUnknownFields(value, conversion), provider, conversion);
  const unsupportedMessage = 'its headers or its body have more than variables';
  const headersValue = entries.get('headers');
  const headers = convertPlaceholders(prepare(headersValue?.toJson() ?? {}));
  if (headers === undefined) throw new NoEquivalentError(headersValue ?? place, unsupportedMessage);

  const bodyValue = entries.get('body');
  const body =
    bodyValue &&
    (convertBody(prepare(bodyValue.toJson())) ?? addRenderedBody(provider, entries, conversion));
  if (bodyValue && body === undefined) throw new NoEquivalentError(bodyValue, unsupportedMessage);

  const method = entries.get('method')?.scalar?.toUpperCase() ?? (bodyValue ? 'POST' : 'GET');
  return {
    ...(method !== 'POST' && { method }),
    ...(Object.keys(headers as JsonObject).length > 0 && { headers }),
    ...(body !== undefined && { body }),
  };
}

/**
 * Adds an input for a JSON body that Nunjucks has to render, and returns its placeholder; undefined
 * if Nunjucks can't render the body.
 */
function addRenderedBody(
  { isJudge = false }: WrittenProvider,
  entries: ConfigEntries,
  conversion: ConversionContext,
): string | undefined {
  const bodyValue = entries.get('body');
  const headers = Object.entries(entries.get('headers')?.toJson() ?? {});
  const isJson = headers.some(
    ([name, value]) =>
      /^content-type$/iu.test(name) && /^application\/json\b/iu.test(String(value)),
  );
  const template = bodyValue?.scalar;
  const canBeRendered = conversion.runsPrograms && !isJudge && isJson;
  if (!bodyValue || template === undefined || !canBeRendered) return undefined;
  if (mentionsEnvironment(template)) return undefined;

  return `\${input.${conversion.addInputForBody({ place: bodyValue, template })}}`;
}

/**
 * Returns a value without fields of variables that no test has, such as `{{context.uuid}}`: they
 * are empty in promptfoo too.
 */
function withoutUnknownFields(value: JsonValue, { variableNames }: ConversionContext): JsonValue {
  const text = JSON.stringify(value).replaceAll(FIELD_OF_VARIABLE, (tag, name: string) =>
    [...variableNames.all, 'env', 'prompt'].includes(name) ? tag : '',
  );
  return parseJson(text) ?? value;
}

/**
 * Returns a value with a separate input for each variable that has a default, such as
 * `{{ name | default("none") }}`.
 */
function withDefaultInputs(
  value: JsonValue,
  { isJudge = false }: WrittenProvider,
  conversion: ConversionContext,
): JsonValue {
  const text = JSON.stringify(value).replaceAll(
    VARIABLE_WITH_DEFAULT,
    (tag, name: string, single?: string, double?: string) => {
      const defaultText = single ?? double ?? '';
      // A variable that is not given is empty without a default too.
      if (defaultText === '' || name === 'prompt') return `{{${name}}}`;
      return isJudge || !conversion.isForTest
        ? tag
        : `{{${conversion.addInputWithDefault(name, defaultText)}}}`;
    },
  );
  return parseJson(text) ?? value;
}

/**
 * Returns how the answer is read: by an expression (`output`), or by code (`transform`), which
 * keeps the types of values.
 *
 * @throws {NoEquivalentError}
 */
function readResponseFields(
  { place, isJudge = false }: WrittenProvider,
  entries: ConfigEntries,
  { runsPrograms }: ConversionContext,
): { readonly output?: string | undefined; readonly transform?: string } {
  const usesCode = runsPrograms && !isJudge;
  const response = entries.get('transformResponse') ?? entries.get('responseParser');
  const parser = response?.scalar ?? '';
  if (parser.startsWith('file://')) {
    throw new NoEquivalentError(response ?? place, 'its transform is a file');
  }

  const output = response && !usesCode ? toJmespath(parser) : undefined;
  if (isJudge && response && output === undefined) {
    throw new NoEquivalentError(response, 'it judges, and code reads its answer');
  }

  if (output !== undefined || !(response || usesCode)) return { output };
  return { transform: buildResponseTransform(response ? parser : '({ output: json || text })') };
}
