import { type FilePosition, faultAt } from '../../files/formats/file-fault.ts';
import { withoutUndefined } from '../../files/formats/json.ts';
import type { YamlValue } from '../../files/formats/yaml.ts';
import { type FieldFormat, YamlFields } from '../../files/formats/yaml-fields.ts';
import { MAX_TIMER_MS, parseDurationMs } from '../../utils/duration.ts';
import { findExpressionFault } from '../../utils/jmespath.ts';
import { isLoopbackHost } from '../../wire/addresses.ts';
import type {
  AnswerFields,
  DeclaredAddress,
  DeclaredModel,
  DeclaredProgram,
  ProgramPlaceholder,
} from '../declared-model.ts';
import { PlaceholderFault, parsePlaceholders } from '../programs/placeholders.ts';
import { isHeaderName } from './read-provider.ts';

const COMMON_FIELDS = [
  'model',
  'modality',
  'output',
  'cost',
  'tokens',
  'timeout',
  'price',
  'credits',
  'runOptions',
];

const PROGRAM_FIELDS = [...COMMON_FIELDS, 'program', 'folder'];
const ADDRESS_FIELDS = [...COMMON_FIELDS, 'address', 'method', 'headers', 'body'];

const DEFAULT_TIMEOUT_MS = 10 * 60_000;
const MAX_EXPRESSION_LENGTH = 16 * 1024;

const METHOD_FORMAT: FieldFormat = {
  pattern: /^(?:GET|POST|PUT|PATCH|DELETE|QUERY)$/,
  rule: 'must be GET, POST, PUT, PATCH, DELETE or QUERY',
};

/** Headers that decide where a request goes or ends. */
const RESERVED_HEADERS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
]);

/** Returns true if an item of `models` is a program or an address. */
export function isDeclared(item: YamlValue): boolean {
  if (!item.isMap) return false;
  return item.readEntries('a model', []).some(({ key }) => key === 'program' || key === 'address');
}

/**
 * Reads the program or address of an entry. Returns its other fields unread.
 *
 * @throws {FileFault}
 */
export function readDeclaration(
  item: YamlValue,
  folder: string,
): { readonly fields: YamlFields; readonly declaration: DeclaredModel } {
  const isProgram = item.readEntries('a model').some(({ key }) => key === 'program');
  const fields = isProgram
    ? YamlFields.read(item, 'a model that is a program', PROGRAM_FIELDS)
    : YamlFields.read(item, 'a model that is an address', ADDRESS_FIELDS);
  const common = {
    sourceFolder: folder,
    timeoutMs: readTimeout(fields),
    ...readAnswerFields(fields),
  };

  return {
    fields,
    declaration: isProgram
      ? { ...common, ...readProgram(fields) }
      : { ...common, ...readAddress(fields) },
  };
}

function readTimeout(fields: YamlFields): number {
  const text = fields.readText('timeout');
  if (text === undefined) return DEFAULT_TIMEOUT_MS;

  const ms = parseDurationMs(text);
  if (ms === undefined || ms === 0) {
    throw fields.createFault('timeout', 'must be a time such as 90s, 10m or 1h');
  }

  if (ms > MAX_TIMER_MS) throw fields.createFault('timeout', 'is longer than 24 days');
  return ms;
}

function readAnswerFields(fields: YamlFields): AnswerFields {
  const output = fields.findValue('output');
  const cost = fields.findValue('cost');
  const tokens = fields.findValue('tokens');

  return withoutUndefined({
    output: output && readExpression(output, 'output'),
    cost: cost && readExpression(cost, 'cost'),
    tokens: tokens && readTokens(tokens),
  });
}

function readTokens(value: YamlValue): NonNullable<AnswerFields['tokens']> {
  const fields = YamlFields.read(value, 'tokens', ['input', 'output', 'cached']);
  const requireExpression = (key: string): string =>
    readExpression(fields.findValue(key) ?? fields.refuseMissing(key), key);
  const cachedValue = fields.findValue('cached');

  return withoutUndefined({
    input: requireExpression('input'),
    output: requireExpression('output'),
    cached: cachedValue && readExpression(cachedValue, 'cached'),
  });
}

function readExpression(value: YamlValue, name: string): string {
  const expression = value.readText(name);
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    throw faultAt(value, `${name} is longer than 16 KiB`);
  }

  const fault = findExpressionFault(expression);
  if (fault === undefined) return expression;

  const indexText = fault.index === undefined ? '' : `, at character ${fault.index + 1}`;
  throw faultAt(value, `${name} is not JMESPath: ${fault.message}${indexText}`);
}

type ProgramFields = Omit<DeclaredProgram, 'sourceFolder' | 'timeoutMs' | keyof AnswerFields>;

function readProgram(fields: YamlFields): ProgramFields {
  const items =
    fields.findValue('program')?.readItems('program') ?? fields.refuseMissing('program');
  const [program, ...args] = items.map(item => item.readText('a word of `program`'));
  if (program === undefined || program === '') throw fields.createFault('program', 'is empty');

  // A prompt must not choose which program starts.
  const [firstItem] = items;
  for (const { name } of firstItem ? readPlaceholders(firstItem) : []) {
    if (name !== 'here') {
      throw fields.createFault('program', `takes only \${here} in its first word, not \${${name}}`);
    }
  }

  const placeholders = items.flatMap(item => readPlaceholders(item, 'program'));
  return {
    kind: 'program',
    argv: [program, ...args],
    usesTemporaryFolder: fields.readChoice('folder', ['temporary']) !== undefined,
    placeholders,
  };
}

type AddressFields = Omit<DeclaredAddress, 'sourceFolder' | 'timeoutMs' | keyof AnswerFields>;

function readAddress(fields: YamlFields): AddressFields {
  const address = fields.requireText('address');
  const fault = findAddressFault(address);
  if (fault !== undefined) throw fields.createFault('address', fault);

  const url = fields.findValue('address');
  const headers = fields.findValue('headers');
  const body = fields.findValue('body');
  const method = fields.readText('method', METHOD_FORMAT) ?? 'POST';
  if (method === 'GET' && body) throw fields.createFault('body', "can't be sent with GET");

  const bodyPlaceholders = body ? readPlaceholders(body, 'body') : [];
  const addressPlaceholders = url ? readPlaceholders(url) : [];
  for (const { name } of addressPlaceholders) {
    if (name === 'images') {
      throw fields.createFault('address', "can't contain ${images}: put it into the body");
    }
  }

  const entries = headers?.readEntries('headers') ?? [];
  return {
    kind: 'address',
    method,
    address,
    headers: Object.fromEntries(
      entries.map(({ key, value }) => [readHeaderName(key, value), value.readText(key)]),
    ),
    ...(body && { body: body.toJson() }),
    placeholders: [
      ...addressPlaceholders,
      ...entries.flatMap(({ value }) => readPlaceholders(value)),
      ...bodyPlaceholders,
    ],
  };
}

function readHeaderName(name: string, position: FilePosition): string {
  if (!isHeaderName(name)) throw faultAt(position, `\`${name}\` is not a valid header name`);
  if (RESERVED_HEADERS.has(name.toLowerCase())) {
    throw faultAt(position, `the header \`${name}\` can't be set`);
  }
  return name;
}

/** Returns the fault of an address; undefined if it is valid. */
function findAddressFault(address: string): string | undefined {
  const { origin, rest } =
    /^(?<origin>https?:\/\/[^/?#\\]*)(?<rest>.*)$/su.exec(address)?.groups ?? {};
  if (origin === undefined || rest === undefined) {
    return 'must begin with https://, or http:// for this machine';
  }

  if (origin.includes('$')) return 'allows placeholders only after its scheme, host and port';
  if (!URL.canParse(origin) || /\s/u.test(address)) return 'is not the address of a server';

  const { protocol, hostname, username, password } = new URL(origin);
  if (username !== '' || password !== '') {
    return "can't contain a user name or password: put them into a header";
  }

  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    return `must begin with https://: ${hostname} is not this machine`;
  }

  return rest.includes('\\') ? "can't contain a backslash" : undefined;
}

/**
 * Returns the placeholders of a value.
 *
 * @param restrictedField the name of a field that may not hold environment variables
 * @throws {FileFault} if one is unknown, or not allowed here
 */
function readPlaceholders(value: YamlValue, restrictedField?: string): ProgramPlaceholder[] {
  if (value.isList) {
    return value.readItems('this list').flatMap(item => readPlaceholders(item, restrictedField));
  }

  if (value.isMap) {
    return value.readEntries('this map').flatMap(entry => {
      if (parsePlaceholdersAt(entry, entry.key).length === 0) {
        return readPlaceholders(entry.value, restrictedField);
      }
      throw faultAt(
        entry,
        `the key \`${entry.key}\` has a placeholder, which only values may have`,
      );
    });
  }

  const placeholders = parsePlaceholdersAt(value, value.scalar ?? '');
  const variable =
    restrictedField === undefined ? undefined : placeholders.find(({ name }) => name === 'env');
  if (!variable || !('key' in variable)) return placeholders;

  throw faultAt(
    value,
    `${restrictedField} can't contain \${env.${variable.key}}: only \`address\` and \`headers\` may`,
  );
}

function parsePlaceholdersAt(position: FilePosition, text: string): ProgramPlaceholder[] {
  try {
    return parsePlaceholders(text);
  } catch (error) {
    throw error instanceof PlaceholderFault ? faultAt(position, error.message) : error;
  }
}
