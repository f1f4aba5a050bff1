import type { JsonObject } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import { readAssertions } from '../assertions/read-assertions.ts';
import type { ConversionContext, KnownKeys } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import { readReferences } from '../prompts/prompt-references.ts';
import { isAnswerSetting } from '../providers/setting-names.ts';
import { isPositiveCount } from '../run-settings.ts';
import type { ConfiguredTest, VariableValue } from './configured-test.ts';
import { readVariables } from './read-variables.ts';

const TEST_KEYS: KnownKeys = {
  supported: ['description', 'vars', 'assert', 'metadata', 'options', 'id', 'tags', 'prompts'],
  unsupported: ['threshold', 'providerOutput', 'assertScoringFunction'],
};

/** Keys that name providers, which a written test file can't express. */
const TESTED_PROVIDER_KEYS = ['providers', 'provider'] as const;

type ProviderKey = (typeof TESTED_PROVIDER_KEYS)[number];

const OPTION_KEYS: KnownKeys = {
  supported: [
    'provider',
    'transform',
    'postprocess',
    'disableVarExpansion',
    'disableConversationVar',
    'runSerially',
    'factuality',
    'metadata',
    'repeat',
  ],
  unsupported: ['prefix', 'suffix', 'rubricPrompt'],
};

/** The option that names the variable that keeps the answer. */
const STORE_KEY = 'storeOutputAs';

/** The option with code that makes other values of the variables. */
const TRANSFORM_KEY = 'transformVars';

/** Options that a written test file can't express. */
const UNWRITTEN_KEYS = [STORE_KEY, TRANSFORM_KEY];

/** Returns true for an option of a test that is a setting of the provider. */
export function isTestSetting(key: string, conversion: ConversionContext): boolean {
  return isAnswerSetting(key, conversion) && !OPTION_KEYS.supported.includes(key);
}

/** The role of a test in its configuration. */
interface TestRole {
  /** True for `defaultTest`, whose parts all tests share; default false. */
  readonly isDefault?: boolean;
}

/** Reads a test. In `defaultTest`, options that are settings belong to the providers. */
export function readTest(
  node: YamlValue,
  conversion: ConversionContext,
  testRole: TestRole = {},
): ConfiguredTest {
  const omissionsBefore = conversion.omissionCount;
  const entries = readMergedValues(node, 'a test');
  const optionsNode = entries.get('options');
  const options = optionsNode
    ? readMergedValues(optionsNode, 'options')
    : new Map<string, YamlValue>();
  reportTestKeys(entries, testRole, conversion);
  reportOptionKeys(options, testRole, conversion);

  const findProviderNode = (key: ProviderKey): YamlValue | undefined =>
    isProviderKeyRead(key, testRole, conversion) ? entries.get(key) : undefined;
  const transform = (options.get('transform') ?? options.get('postprocess'))?.scalar?.trimEnd();
  conversion.reportNodeOnlyCode(transform, optionsNode ?? node);
  const vars = readVariablesOfTest(entries.get('vars'), options, conversion);

  // An assertion without an equivalent leaves out only itself.
  const isLeftOut = conversion.omissionCount > omissionsBefore;
  return {
    name: entries.get('description')?.readText('description'),
    place: node,
    vars,
    asserts: readAssertions(entries.get('assert'), conversion),
    options: {
      transform,
      transformVars: conversion.isForTest ? options.get(TRANSFORM_KEY) : undefined,
      provider: options.get('provider'),
      answerVariable: options.get(STORE_KEY)?.scalar,
      leavesOutConversation: readBoolean(options, 'disableConversationVar'),
      repeat: readCount(options, 'repeat'),
    },
    metadata: readTestMetadata(entries),
    prompts: readReferences(entries.get('prompts')),
    provider: findProviderNode('provider'),
    providers: readProviderReferences(findProviderNode('providers')),
    isLeftOut,
    isInvalid: lacksRequiredKeys(entries),
  };
}

/** Returns true if a key that names providers is read. */
function isProviderKeyRead(
  key: ProviderKey,
  { isDefault = false }: TestRole,
  { isForTest }: ConversionContext,
): boolean {
  // promptfoo does not read `provider` in `defaultTest`.
  return isForTest && !(isDefault && key === 'provider');
}

function reportTestKeys(
  entries: ReadonlyMap<string, YamlValue>,
  testRole: TestRole,
  conversion: ConversionContext,
): void {
  const providerKeys = TESTED_PROVIDER_KEYS.filter(key =>
    isProviderKeyRead(key, testRole, conversion),
  );
  const supportedKeys = [...TEST_KEYS.supported, ...providerKeys];
  conversion.reportKeys(
    entries,
    { supported: supportedKeys, unsupported: [...TEST_KEYS.unsupported, ...TESTED_PROVIDER_KEYS] },
    { owner: 'a test' },
  );
}

function reportOptionKeys(
  options: ReadonlyMap<string, YamlValue>,
  { isDefault = false }: TestRole,
  conversion: ConversionContext,
): void {
  const { isForTest } = conversion;
  const settings = [...options.keys()].filter(key => isTestSetting(key, conversion));
  const testKeys = isForTest ? UNWRITTEN_KEYS : [];
  const settingKeys = isForTest && isDefault ? settings : [];
  const supportedKeys = [...OPTION_KEYS.supported, ...testKeys, ...settingKeys];
  const unsupported = [...OPTION_KEYS.unsupported, ...UNWRITTEN_KEYS, ...settings];
  conversion.reportKeys(
    options,
    { supported: supportedKeys, unsupported },
    { owner: "a test's options" },
  );
}

function readVariablesOfTest(
  vars: YamlValue | undefined,
  options: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): Map<string, readonly VariableValue[]> {
  return vars
    ? readVariables(vars, conversion, {
        keepsLists: readBoolean(options, 'disableVarExpansion') === true,
      })
    : new Map<string, readonly VariableValue[]>();
}

function readBoolean(entries: ReadonlyMap<string, YamlValue>, key: string): boolean | undefined {
  const value = entries.get(key)?.toJson();
  return typeof value === 'boolean' ? value : undefined;
}

function readCount(entries: ReadonlyMap<string, YamlValue>, key: string): number | undefined {
  const value = entries.get(key)?.toJson();
  return isPositiveCount(value) ? value : undefined;
}

function readTestMetadata(entries: ReadonlyMap<string, YamlValue>): JsonObject {
  const metadata = entries.get('metadata')?.toJson();
  return isJsonObject(metadata) ? metadata : {};
}

/** The keys of which promptfoo requires at least one in a test. */
export const REQUIRED_KEYS = [
  'assert',
  'vars',
  'options',
  'metadata',
  'provider',
  'providerOutput',
  'threshold',
];

/** Returns true for a map that promptfoo would not accept as a test. */
function lacksRequiredKeys(entries: ReadonlyMap<string, YamlValue>): boolean {
  return !REQUIRED_KEYS.some(key => {
    const value = entries.get(key)?.toJson();
    return key === 'threshold' ? typeof value === 'number' : Boolean(value);
  });
}

/** Reads references to providers. promptfoo refuses anything but a list. */
function readProviderReferences(node: YamlValue | undefined): string[] | undefined {
  if (!node || node.isEmpty) return undefined;
  return node.readItems('providers').map(item => item.readText('a provider'));
}
