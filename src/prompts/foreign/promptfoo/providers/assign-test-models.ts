import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { includesName } from '../prompts/prompt-references.ts';
import type { ConfiguredTest, ConfiguredTests } from '../tests/configured-test.ts';
import type { PromptfooProvider } from './promptfoo-provider.ts';
import { readPromptfooProvider } from './read-provider.ts';
import { getProviderKey, hasOtherOutput, OTHER_OUTPUT_MESSAGE } from './read-providers.ts';

/** The tests with the models that each runs with, and the providers that only tests name. */
interface AssignedModels {
  readonly testsWithModels: ConfiguredTests;
  /** The providers that only tests name; their indices follow those of the asked providers. */
  readonly testProviders: readonly PromptfooProvider[];
}

/** The providers of a configuration. */
interface ConfiguredProviders {
  /** All of them, with those that may not be run. */
  readonly listedProviders: readonly PromptfooProvider[];
  /** Those that are asked with the chosen prompt; no two have the same key. */
  readonly askedProviders: readonly PromptfooProvider[];
}

/**
 * Assigns models to the tests: those of the asked providers to which a test refers with
 * `providers`, all of them by default. A provider of its own, its `provider`, replaces them.
 *
 * @param settings the settings of the prompt and of all tests
 */
export function assignTestModels(
  configuredTests: ConfiguredTests,
  configuredProviders: ConfiguredProviders,
  settings: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): AssignedModels {
  const namesNoProvider = ({ provider, providers }: ConfiguredTest): boolean =>
    !provider && !providers;
  if (configuredTests.tests.every(namesNoProvider)) {
    return { testsWithModels: configuredTests, testProviders: [] };
  }

  const keys = configuredProviders.askedProviders.map(getProviderKey);
  const testProviders: PromptfooProvider[] = [];
  const tests = configuredTests.tests.map(test => {
    const { ownProvider, ...choice } = chooseModels(
      test,
      configuredProviders,
      settings,
      conversion,
    );
    if (!ownProvider) return { ...test, ...choice };

    const key = getProviderKey(ownProvider);
    if (!keys.includes(key)) {
      keys.push(key);
      testProviders.push(ownProvider);
    }
    return { ...test, ...choice, modelIndices: [keys.indexOf(key)] };
  });

  return { testsWithModels: { ...configuredTests, tests }, testProviders };
}

/** The models of a test. */
interface ModelChoice extends Required<Pick<ConfiguredTest, 'modelIndices' | 'isLeftOut'>> {
  /** The provider that replaces the models of `modelIndices`. */
  readonly ownProvider?: PromptfooProvider;
}

/** Chooses the models of a test, which is left out if any part of the choice has no equivalent. */
function chooseModels(
  test: ConfiguredTest,
  { listedProviders, askedProviders }: ConfiguredProviders,
  settings: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): ModelChoice {
  const omissionsBefore = conversion.omissionCount;
  reportUnknownProviders(test, listedProviders, conversion);
  const ownProvider =
    test.provider && readPromptfooProvider(test.provider, conversion, { promptConfig: settings });
  const hasOmissions =
    conversion.omissionCount > omissionsBefore || ownProvider?.isLeftOut === true;

  const { providers: references } = test;
  const modelIndices = askedProviders.flatMap(({ names }, index) =>
    includesName(references, names) ? [index] : [],
  );
  if (modelIndices.length === 0) {
    const refersToLeftOutModels = listedProviders.some(
      ({ names, isAsked = true }) => isAsked && includesName(references, names),
    );
    return { modelIndices, isLeftOut: test.isLeftOut || hasOmissions || refersToLeftOutModels };
  }

  const isLeftOut = test.isLeftOut || hasOmissions;
  if (!ownProvider) return { modelIndices, isLeftOut };
  if (hasOtherOutput(ownProvider, askedProviders[0])) {
    conversion.reportOmission(ownProvider.place, OTHER_OUTPUT_MESSAGE);
    return { modelIndices, isLeftOut: true };
  }
  return { modelIndices, isLeftOut, ownProvider };
}

/** Reports references to no provider, which promptfoo refuses. */
function reportUnknownProviders(
  { place = { line: 1, column: 1 }, providers = [] }: ConfiguredTest,
  listedProviders: readonly PromptfooProvider[],
  conversion: ConversionContext,
): void {
  for (const reference of providers) {
    if (listedProviders.some(({ names }) => includesName([reference], names))) continue;
    conversion.reportOmission(place, `no known provider is called \`${reference}\``);
  }
}
