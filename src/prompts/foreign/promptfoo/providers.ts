import { faultAt } from '../../../files/file-fault.ts';
import { isJsonList, textOrNothing } from '../../../files/json.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { type Conversion, type KnownKeys, valuesByKey } from './conversion.ts';
import { declareProvider } from './declared-provider.ts';
import { modelName } from './model-names.ts';
import type { PromptfooProvider } from './provider.ts';
import { ownAddress } from './provider-address.ts';
import { convertSettings, withDefaults } from './provider-settings.ts';

/** Providers whose requests take the `config` of a prompt. */
const TAKES_PROMPT_CONFIG =
  /^(?:openai|anthropic|azure(?:openai)?|google|openrouter|github|perplexity|huggingface|hf):/u;

/** Reads the models of a configuration. @param promptConfig the settings of the prompt and of all tests, which win over theirs */
export function readPromptfooProviders(
  node: YamlValue | undefined,
  conversion: Conversion,
  promptConfig?: ReadonlyMap<string, YamlValue>,
): PromptfooProvider[] {
  if (!node || node.isEmpty) return [];
  const named = providerItems(node, conversion).map(item =>
    readPromptfooProvider(item, conversion, { promptConfig }),
  );
  const known = new Map<string, PromptfooProvider>();
  for (const provider of named) {
    if (!provider) continue;
    const { model, config, transform } = provider;
    known.set(JSON.stringify([model, config, transform]), provider);
  }
  return [...known.values()];
}

/** Returns the items of a list of providers, with those of referenced files. */
function providerItems(node: YamlValue, conversion: Conversion): YamlValue[] {
  const items = isJsonList(node.json()) ? node.items('providers') : [node];
  return items.flatMap(item => {
    const { scalar } = item;
    if (scalar === undefined || !/^file:\/\/.*\.(?:ya?ml|json)$/iu.test(scalar)) return [item];
    return providerItems(conversion.yaml(scalar, item), conversion);
  });
}

const PROVIDER_KEYS: KnownKeys = {
  known: ['config', 'label', 'delay', 'transform', 'description', 'tags'],
  unsupported: ['prompts', 'env', 'inputs'],
};

/** Reads a provider; undefined with a note if it has no equivalent. */
export function readPromptfooProvider(
  item: YamlValue,
  conversion: Conversion,
  context: Pick<NamedProvider, 'promptConfig' | 'isJudge'> = {},
): PromptfooProvider | undefined {
  const { scalar } = item;
  if (scalar !== undefined) return convertProvider({ id: scalar, at: item, ...context }, conversion);
  const entries = valuesByKey(item, 'a provider');
  const [only] = entries;
  // `{openai:gpt-4o: {config: …}}`
  if (entries.size === 1 && only && only[0] !== 'id') {
    return readProviderMap(only[0], valuesByKey(only[1], only[0]), { at: item, ...context }, conversion);
  }
  const id = entries.get('id');
  if (!id) throw faultAt(item, 'a provider needs `id`');
  entries.delete('id');
  return readProviderMap(id.text('id'), entries, { at: item, ...context }, conversion);
}

function readProviderMap(
  id: string,
  entries: ReadonlyMap<string, YamlValue>,
  place: Pick<NamedProvider, 'at' | 'promptConfig' | 'isJudge'>,
  conversion: Conversion,
): PromptfooProvider | undefined {
  conversion.noteKeys(entries, PROVIDER_KEYS, ' of a provider');
  const [config, label, transform] = ['config', 'label', 'transform'].map(key => entries.get(key));
  return convertProvider(
    { id, ...place, config, label: label?.scalar, transform: transform?.scalar },
    conversion,
  );
}

interface NamedProvider {
  readonly id: string;
  readonly at: YamlValue;
  readonly config?: YamlValue | undefined;
  readonly label?: string | undefined;
  readonly transform?: string | undefined;
  /** The settings of the prompt and of all tests. */
  readonly promptConfig?: ReadonlyMap<string, YamlValue> | undefined;
  /** True if it judges answers. */
  readonly isJudge?: boolean;
}

function convertProvider(written: NamedProvider, conversion: Conversion): PromptfooProvider | undefined {
  const { id, at, config, transform, promptConfig } = written;
  const before = conversion.leftOut;
  conversion.noteTransform(transform, at);
  const declared = declareProvider(written, conversion);
  const [setting] = promptConfig?.values() ?? [];
  if (setting && (declared || !TAKES_PROMPT_CONFIG.test(id))) {
    conversion.note(setting, `settings of a prompt or of all tests have no equivalent for \`${id}\``);
  }
  if (declared) {
    const what = `the provider \`${id}\` is ${'program' in declared.entry ? 'a program' : 'an address'}`;
    const isLeftOut = conversion.noteProgram(at, what);
    const transforms = [declared.transform, transform].filter(code => code !== undefined);
    return { ...declared, config: {}, transform: composedTransform(transforms), at, isLeftOut };
  }
  if (conversion.leftOut > before) return undefined;
  const model = modelName(id);
  if (model === undefined) {
    conversion.note(at, `the provider \`${id}\` has no equivalent: name a model of ours`);
    return undefined;
  }
  const own = convertSettings({ id }, config && valuesByKey(config, 'config'), conversion);
  const ofPrompt = convertSettings({ id }, promptConfig, conversion);
  const settings = { ...own.settings, ...ofPrompt.settings };
  const output = ofPrompt.output ?? own.output;
  const place = ownAddress(id, config);
  const provider = { config: withDefaults(id, model, settings), output, transform, at };
  if (!place) return { model, ...provider };
  const isLeftOut = conversion.noteProgram(
    at,
    `the provider \`${id}\` is asked at ${textOrNothing(place[1]['baseUrl'])}`,
  );
  return { model: `${place[0]}/${model.replace(/^[^/]+\//u, '')}`, ...provider, place, isLeftOut };
}

/** Returns code that runs transforms one after the other. */
function composedTransform(codes: readonly string[]): string | undefined {
  const [first, second] = codes;
  if (first === undefined || second === undefined) return first;
  const [one, other] = [first, second].map(code => (code.includes('\n') ? code : `return ${code}`));
  return `const first = (function (output, context) {
${one}
})(output, context);
return (function (output, context) {
${other}
})(first, context);`;
}
