import type { JsonObject, JsonValue } from '../../../files/json.ts';
import { isJsonList, parseJson } from '../../../files/json.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { isLoopbackHost } from '../../../wire/addresses.ts';
import type { Conversion } from './source.ts';
import { nunjucks } from './template.ts';

/** A provider that is a program or an address, as an entry of a models file. */
export interface DeclaredProvider {
  readonly model: string;
  readonly entry: JsonObject;
}

interface Written {
  readonly id: string;
  readonly label: string | undefined;
  readonly config: YamlValue | undefined;
  readonly at: YamlValue;
}

/** The entry for an `exec:` or HTTP provider; undefined for any other, and for one that no entry can express. */
export function declaredOf(provider: Written, conversion: Conversion): DeclaredProvider | undefined {
  const isExec = provider.id.startsWith('exec:');
  if (!isExec && !/^https?(?:$|:\/\/)/u.test(provider.id)) return undefined;
  const fields = isExec ? programOf(provider, conversion) : addressOf(provider, conversion);
  if (!fields) return undefined;
  const model = nameOf(provider, isExec ? 'program' : 'address');
  return { model, entry: { model, modality: 'text', ...fields } };
}

/** A word that no provider or built-in model is called by. */
function nameOf({ id, label }: Written, kind: string): string {
  const words = (label ?? id.replace(/^(?:exec:|https?:\/\/)/u, '')).toLowerCase();
  const slug = words
    .replace(/[^a-z\d]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, 40);
  return slug === '' ? kind : `${slug}-${kind}`;
}

const SHELL_WORD = /[^\s"']+|"(?<double>[^"]*)"|'(?<single>[^']*)'/gu;

/** Called as promptfoo calls it: with the prompt, its options and what it knows of the test as arguments. */
function programOf({ id, config, at }: Written, conversion: Conversion): JsonObject | undefined {
  const words = [...id.slice('exec:'.length).matchAll(SHELL_WORD)].map(
    ({ 0: word, groups }) => groups?.['double'] ?? groups?.['single'] ?? word,
  );
  if (words.length === 0) {
    conversion.note(at, `the provider \`${id}\` names no program`);
    return undefined;
  }
  const program = words.map(word => (conversion.has(word) ? `\${here}/${escaped(word)}` : escaped(word)));
  const options = { config: config?.json() ?? {}, env: {} };
  conversion.note(at, 'the program gets `{}` as its third argument, in place of the variables of the test');
  return { program: [...program, '${prompt}', escaped(JSON.stringify(options)), '{}'] };
}

const KNOWN = ['url', 'method', 'headers', 'body', 'transformResponse', 'responseParser'];

function addressOf({ id, config, at }: Written, conversion: Conversion): JsonObject | undefined {
  const entries = config?.valuesByKey('config') ?? new Map<string, YamlValue>();
  const place = entries.get('url') ?? at;
  const refuse = (where: YamlValue, what: string): undefined => {
    conversion.note(where, `the provider \`${id}\` has no equivalent: ${what}`);
    return undefined;
  };
  for (const [key, value] of entries) {
    if (!KNOWN.includes(key)) return refuse(value, `it has \`${key}\``);
  }
  const address = filled(entries.get('url')?.scalar ?? id);
  if (address === undefined || !/^https?:\/\//u.test(address)) {
    return refuse(place, 'its address has more than variables');
  }
  const [origin = ''] = /^https?:\/\/[^/?#]*/u.exec(address) ?? [];
  if (origin.includes('$') || !isReachable(origin)) {
    return refuse(place, 'its host is not literal, or is asked by http and is not this machine');
  }
  const headers = filledIn(entries.get('headers')?.json() ?? {});
  const body = entries.get('body');
  const written = body && bodyOf(body.json());
  if (headers === undefined || (body && written === undefined)) {
    return refuse(body ?? at, 'its headers or its body have more than variables');
  }
  const response = entries.get('transformResponse') ?? entries.get('responseParser');
  const output = response && outputOf(response.scalar ?? '');
  if (response && output === undefined) return refuse(response, 'its transform is not a path');
  const method = entries.get('method')?.scalar?.toUpperCase() ?? (body ? 'POST' : 'GET');
  return {
    address,
    ...(method !== 'POST' && { method }),
    ...(Object.keys(headers as JsonObject).length > 0 && { headers }),
    ...(written !== undefined && { body: written }),
    ...(output !== undefined && output !== '' && { output }),
  };
}

/** Returns true for https, and for this machine. */
function isReachable(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || isLoopbackHost(hostname);
}

/** A body in JSON is filled in by its values, as promptfoo does. */
function bodyOf(body: JsonValue): JsonValue | undefined {
  const json = typeof body === 'string' ? parseJson(body) : undefined;
  return filledIn(typeof json === 'object' && json !== null ? json : body);
}

/** The same with our placeholders; undefined for what Nunjucks does more with than putting variables in. */
function filledIn(value: JsonValue): JsonValue | undefined {
  if (typeof value === 'string') return filled(value);
  if (isJsonList(value)) {
    const items = value.map(filledIn);
    return items.every(item => item !== undefined) ? items : undefined;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields: Record<string, JsonValue> = {};
  for (const [key, field] of Object.entries(value)) {
    const ours = filledIn(field);
    if (ours === undefined || key.includes('{')) return undefined;
    fields[key] = ours;
  }
  return fields;
}

const VARIABLE_OF_ENVIRONMENT = /\{\{\s*env\.(?<name>[A-Za-z_]\w*)\s*\}\}/gu;

function filled(text: string): string | undefined {
  const parts = escaped(text).split(VARIABLE_OF_ENVIRONMENT);
  const texts = parts.map((part, at) => {
    if (at % 2 === 1) return `\${env.${part}}`;
    const { pieces, isPlain } = nunjucks(part);
    const joined = pieces.map(piece => {
      if ('text' in piece) return piece.text;
      if (!('input' in piece)) return '';
      return piece.input === 'prompt' ? '${prompt}' : `\${input.${piece.input}}`;
    });
    return isPlain ? joined.join('') : undefined;
  });
  return texts.every(part => part !== undefined) ? texts.join('') : undefined;
}

/** A path such as `json.a.b[0]` as JMESPath; the empty text is the whole answer as it came. */
function outputOf(transform: string): string | undefined {
  const path = transform
    .trim()
    .replace(/^\(\s*json\s*(?:,\s*\w+\s*)*\)\s*=>\s*/u, '')
    .replace(/;$/u, '');
  if (path === 'text') return '';
  if (path === 'json') return '@';
  const { rest } = /^json(?<rest>(?:\??\.[A-Za-z_]\w*|(?:\?\.)?\[\d+\])+)$/u.exec(path)?.groups ?? {};
  return rest?.replaceAll('?.[', '[').replaceAll('?.', '.').replace(/^\./u, '');
}

/** What is not a placeholder of theirs must not become one of ours. */
function escaped(text: string): string {
  return text.replaceAll('${', () => '$${');
}
