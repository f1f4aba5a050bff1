import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { includesName } from '../prompts/prompt-references.ts';
import type { ConfiguredTest, ConfiguredTests } from '../tests/configured-test.ts';
import type { PromptfooProvider } from './promptfoo-provider.ts';
import { readPromptfooProvider } from './read-provider.ts';
import { getProviderKey, hasOtherOutput, OTHER_OUTPUT_MESSAGE } from './read-providers.ts';

/** The tests with the models that each runs with, and the providers that only tests name. */
interface TestedProviders {
  readonly testsWithModels: ConfiguredTests;
  /** The providers that only tests name; their indices follow those of the configuration. */
  readonly testProviders: readonly PromptfooProvider[];
}

/** The providers of a configuration. */
interface ConfiguredProviders {
  /** All of them, with those that may not be run. */
  readonly listedProviders: readonly PromptfooProvider[];
  /** Those that are asked with the chosen prompt. */
  readonly askedProviders: readonly PromptfooProvider[];
}

/**
 * Chooses the models of tests that name providers.
 *
 * @param settings the settings of the prompt and of all tests
 */
export function withTestedProviders(
  configuredTests: ConfiguredTests,
  providers: ConfiguredProviders,
  settings: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): TestedProviders {
  const { askedProviders } = providers;
  const namesNoProvider = ({ provider, providers: references }: ConfiguredTest): boolean =>
    !provider && !references;
  if (configuredTests.tests.every(namesNoProvider)) {
    return { testsWithModels: configuredTests, testProviders: [] };
  }

  const providersByKey = new Map(
    askedProviders.map(provider => [getProviderKey(provider), provider]),
  );
  const tests = configuredTests.tests.map(test =>
    assignModels(test, providers, { providersByKey, settings }, conversion),
  );

  return {
    testsWithModels: { ...configuredTests, tests },
    testProviders: [...providersByKey.values()].slice(askedProviders.length),
  };
}

/** The models that the tests share. */
interface SharedModels {
  /** The providers that are asked; those that only tests name are added. */
  readonly providersByKey: Map<string, PromptfooProvider>;
  /** The settings of the prompt and of all tests. */
  readonly settings: ReadonlyMap<string, YamlValue>;
}

/** Returns a test with the indices of its models. Adds its own provider to `providersByKey`. */
function assignModels(
  test: ConfiguredTest,
  { listedProviders, askedProviders }: ConfiguredProviders,
  { providersByKey, settings }: SharedModels,
  conversion: ConversionContext,
): ConfiguredTest {
  const omissionsBefore = conversion.omissionCount;
  const { provider, providers: references } = test;
  reportUnknownProviders(test, listedProviders, conversion);
  const modelIndices = askedProviders.flatMap(({ names }, index) =>
    includesName(references, names) ? [index] : [],
  );
  const ownProvider =
    provider && readPromptfooProvider(provider, conversion, { promptConfig: settings });
  const hasUnsupportedOutput =
    ownProvider !== undefined &&
    modelIndices.length > 0 &&
    hasOtherOutput(ownProvider, askedProviders[0]);
  if (hasUnsupportedOutput) conversion.reportOmission(ownProvider.place, OTHER_OUTPUT_MESSAGE);
  const namesOnlyLeftOutModels =
    modelIndices.length === 0 &&
    listedProviders.some(listedProvider => isAskedBy(references, listedProvider));
  const isLeftOut =
    test.isLeftOut ||
    namesOnlyLeftOutModels ||
    ownProvider?.isLeftOut === true ||
    conversion.omissionCount > omissionsBefore;
  if (!ownProvider || hasUnsupportedOutput || modelIndices.length === 0) {
    return { ...test, modelIndices, isLeftOut };
  }

  const key = getProviderKey(ownProvider);
  if (!providersByKey.has(key)) providersByKey.set(key, ownProvider);
  return { ...test, modelIndices: [[...providersByKey.keys()].indexOf(key)], isLeftOut };
}

/** Returns true if references include a provider that gets the chosen prompt. */
function isAskedBy(
  references: readonly string[] | undefined,
  { names, isAsked = true }: PromptfooProvider,
): boolean {
  return isAsked && includesName(references, names);
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
