import type { YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { assertionsIn } from './assertions.ts';
import type { ConfiguredTest, Variable } from './configured-test.ts';
import { type Conversion, type KnownKeys, valuesByKey } from './conversion.ts';
import { readReferences } from './prompt-references.ts';
import { isAnswerSetting } from './provider-settings.ts';
import { readTestVars } from './test-variables.ts';

const TEST_KEYS: KnownKeys = {
  known: ['description', 'vars', 'assert', 'metadata', 'options', 'id', 'tags', 'prompts'],
  unsupported: ['threshold', 'providerOutput', 'assertScoringFunction'],
};
/** Keys that name providers. A written test file can't express them, and promptfoo reads not all of them in `defaultTest`. */
const PROVIDER_KEYS = ['providers', 'provider'];
const OPTION_KEYS: KnownKeys = {
  known: [
    'provider',
    'transform',
    'postprocess',
    'disableVarExpansion',
    'disableConversationVar',
    'runSerially',
    'factuality',
    'metadata',
  ],
  unsupported: ['prefix', 'suffix', 'rubricPrompt', 'transformVars', 'repeat'],
};
/** An option that only a test can carry out, not a written test file. */
const STORE_KEY = 'storeOutputAs';

/** Returns true for an option of a test that is a setting of the provider. */
export function isTestSetting(key: string, conversion: Conversion): boolean {
  return isAnswerSetting(key, conversion) && !OPTION_KEYS.known.includes(key);
}

/** Reads a test. The settings of `defaultTest` are those of the providers. */
export function readTest(
  node: YamlValue,
  conversion: Conversion,
  { isDefault = false }: { readonly isDefault?: boolean } = {},
): ConfiguredTest {
  const before = conversion.leftOut;
  const entries = valuesByKey(node, 'a test');
  const providerKeys = conversion.isForTest ? PROVIDER_KEYS.slice(0, isDefault ? 1 : 2) : [];
  const refused = [...TEST_KEYS.unsupported, ...PROVIDER_KEYS.filter(key => !providerKeys.includes(key))];
  conversion.noteKeys(
    entries,
    { known: [...TEST_KEYS.known, ...providerKeys], unsupported: refused },
    ' of a test',
  );
  const optionsNode = entries.get('options');
  const options = optionsNode ? valuesByKey(optionsNode, 'options') : new Map<string, YamlValue>();
  const settings = [...options.keys()].filter(key => isTestSetting(key, conversion));
  const isTaken = isDefault && conversion.isForTest;
  const isStored = conversion.isForTest ? [STORE_KEY] : [];
  const known = [...OPTION_KEYS.known, ...isStored, ...(isTaken ? settings : [])];
  const unsupported = [...OPTION_KEYS.unsupported, STORE_KEY, ...settings];
  conversion.noteKeys(options, { known, unsupported }, " of a test's options");
  const transform = (options.get('transform') ?? options.get('postprocess'))?.scalar?.trimEnd();
  conversion.noteTransform(transform, optionsNode ?? node);
  const metadata = entries.get('metadata')?.json();
  const isAlone = options.get('disableConversationVar')?.json();
  const vars = entries.get('vars');
  const isWhole = options.get('disableVarExpansion')?.json() === true;
  const values = vars ? readTestVars(vars, conversion, isWhole) : new Map<string, readonly Variable[]>();
  const prompts = readReferences(entries.get('prompts'));
  const isLeftOut = conversion.leftOut > before;
  return {
    name: entries.get('description')?.text('description'),
    at: node,
    vars: values,
    asserts: assertionsIn(entries.get('assert'), conversion),
    options: {
      transform,
      provider: options.get('provider'),
      storesAs: options.get(STORE_KEY)?.scalar,
      isAlone: typeof isAlone === 'boolean' ? isAlone : undefined,
    },
    metadata: isJsonObject(metadata) ? metadata : {},
    prompts,
    provider: providerKeys.includes('provider') ? entries.get('provider') : undefined,
    providers: providersIn(providerKeys.includes('providers') ? entries.get('providers') : undefined),
    isLeftOut,
    isBare: isBare(entries),
  };
}

/** Keys of which promptfoo needs one in a test. */
export const NEEDED = ['assert', 'vars', 'options', 'metadata', 'provider', 'providerOutput', 'threshold'];

/** Returns true if a test has nothing that promptfoo takes for one. */
function isBare(entries: ReadonlyMap<string, YamlValue>): boolean {
  return !NEEDED.some(key => {
    const value = entries.get(key)?.json();
    return key === 'threshold' ? typeof value === 'number' : Boolean(value);
  });
}

/** Reads references to providers. promptfoo refuses anything but a list. */
function providersIn(node: YamlValue | undefined): string[] | undefined {
  if (!node || node.isEmpty) return undefined;
  return node.items('providers').map(item => item.text('a provider'));
}
