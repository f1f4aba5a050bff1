import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext, KnownKeys } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import { readPromptfooProvider } from '../providers/read-provider.ts';
import {
  type Assertion,
  CODE_TYPE,
  isSupportedType,
  JUDGED_TYPE,
  type JudgeSetting,
  reportUnsupportedType,
  stripNegation,
} from './assertion.ts';
import { findConversion } from './assertion-conversions.ts';

/** Matches the types whose `threshold` has an equivalent. */
const TYPE_WITH_THRESHOLD =
  /^(?:not-)?(?:latency|cost|javascript|python|llm-rubric|levenshtein|bleu|gleu|tool-call-f1)$/u;

const ASSERTION_KEYS: KnownKeys = {
  supported: ['type', 'value', 'metric', 'description', 'transform'],
  unsupported: [
    'threshold',
    'weight',
    'provider',
    'rubricPrompt',
    'config',
    'contextTransform',
    'assert',
  ],
};

/** The weight of an assertion that counts as much as any other. */
const DEFAULT_WEIGHT = 1;

/** Keys that promptfoo reads only for some types of assertions. */
const TYPE_SPECIFIC_KEYS = ['threshold', 'provider', 'config', 'contextTransform', 'rubricPrompt'];

/** Reads the assertions of a test, and reports what has no equivalent. */
export function readAssertions(
  node: YamlValue | undefined,
  conversion: ConversionContext,
): (Assertion | undefined)[] {
  if (!node || node.isEmpty) return [];
  const items = node.isList ? node.readItems('assert') : [node];
  return items.flatMap(item => {
    const { scalar } = item;
    if (scalar?.startsWith('file://')) {
      return readAssertions(conversion.files.readYaml(scalar, item), conversion);
    }
    return [readAssertion(item, conversion)];
  });
}

/** Reads an assertion. Reports one that is left out, and returns undefined. */
function readAssertion(item: YamlValue, conversion: ConversionContext): Assertion | undefined {
  const omissionsBefore = conversion.omissionCount;
  const entries = readMergedValues(item, 'an assertion');

  const type = entries.get('type')?.readText('type');
  if (type === undefined) {
    conversion.reportOmission(item, 'an assertion without `type` has no equivalent');
    return undefined;
  }

  if (!isSupportedType(type)) {
    reportUnsupportedType(item, type, conversion);
    return undefined;
  }

  reportAssertionKeys(entries, type, conversion);
  conversion.reportNodeOnlyCode(entries.get('transform')?.scalar, item);
  const judge = JUDGED_TYPE.test(type)
    ? readPromptfooJudge(entries.get('provider'), conversion)
    : undefined;

  // A written test file keeps what could be converted.
  if (conversion.isForTest && conversion.omissionCount > omissionsBefore) return undefined;

  return {
    place: item,
    type,
    value: entries.get('value')?.toJson(),
    threshold: entries.get('threshold')?.toJson(),
    transform: entries.get('transform')?.scalar?.trimEnd(),
    judge,
    config: conversion.isForTest ? entries.get('config')?.toJson() : undefined,
  };
}

/** Reports the keys of an assertion that have no equivalent and would change a verdict. */
function reportAssertionKeys(
  entries: ReadonlyMap<string, YamlValue>,
  type: string,
  conversion: ConversionContext,
): void {
  const usesConfig = CODE_TYPE.test(type);
  const supportedKeys = [
    ...ASSERTION_KEYS.supported,
    ...(TYPE_WITH_THRESHOLD.test(type) ? ['threshold'] : []),
    ...(JUDGED_TYPE.test(type) ? ['provider'] : []),
    ...(usesConfig && conversion.isForTest ? ['config'] : []),
    ...(entries.get('weight')?.toJson() === DEFAULT_WEIGHT ? ['weight'] : []),
  ];

  // A key that promptfoo doesn't read for this type changes nothing.
  const readKeys = [...supportedKeys, ...(usesConfig ? ['config'] : [])];
  const unreadKeys = ignoresOtherKeys(type)
    ? TYPE_SPECIFIC_KEYS.filter(key => !readKeys.includes(key))
    : [];
  const unsupportedKeys = ASSERTION_KEYS.unsupported.filter(key => !unreadKeys.includes(key));
  conversion.reportKeys(
    entries,
    { supported: supportedKeys, unsupported: unsupportedKeys },
    { owner: 'an assertion' },
  );
}

/**
 * Returns true if promptfoo ignores the keys of other types for a type. A judge reads
 * `rubricPrompt`, which has no equivalent.
 */
function ignoresOtherKeys(type: string): boolean {
  return findConversion(stripNegation(type)) !== undefined && !JUDGED_TYPE.test(type);
}

/**
 * Reads the judge in the `provider` of an assertion or of options: the name of a model, with its
 * config if the tests are run. Adds the judge to those of the conversion.
 */
export function readPromptfooJudge(
  node: YamlValue | undefined,
  conversion: ConversionContext,
): JudgeSetting | undefined {
  if (!node || node.isEmpty) return undefined;

  const entries = node.isMap ? readMergedValues(node, 'provider') : undefined;

  // A map has a provider per kind of question; texts are judged by the first.
  if (entries && !entries.has('id') && (entries.has('text') || entries.has('embedding'))) {
    return readPromptfooJudge(entries.get('text'), conversion);
  }

  const providerNode = conversion.namedProviders.get(node.scalar ?? '') ?? node;
  const provider = readPromptfooProvider(providerNode, conversion, { isJudge: true });
  if (!provider) return undefined;

  conversion.judges.push(provider);
  const { model, config } = provider;
  return conversion.isForTest && Object.keys(config).length > 0 ? { model, config } : model;
}
