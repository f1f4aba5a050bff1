import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { includesName } from '../prompts/prompt-references.ts';
import type { ConfiguredTest, ConfiguredTests } from '../tests/configured-test.ts';
import type { PromptfooProvider } from './promptfoo-provider.ts';
import { readPromptfooProvider } from './read-provider.ts';
import { getProviderKey, hasOtherOutput, OTHER_OUTPUT } from './read-providers.ts';

/** The tests, each with the models that it runs with, and the providers that only tests name. */
interface TestedProviders {
  readonly testsWithModels: ConfiguredTests;
  /** They come after those of the configuration. */
  readonly testProviders: readonly PromptfooProvider[];
}

/** The providers of a configuration. */
interface ConfiguredProviders {
  readonly listedProviders: readonly PromptfooProvider[];
  /** Those that get the prompt. */
  readonly askedProviders: readonly PromptfooProvider[];
}

/**
 * Chooses the models of tests that name providers.
 *
 * @param settings the settings of the prompt and of all tests
 */
export function withTestedProviders(
  tests: ConfiguredTests,
  providers: ConfiguredProviders,
  settings: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): TestedProviders {
  const { askedProviders } = providers;
  const namesNoProvider = ({ provider, providers: references }: ConfiguredTest): boolean =>
    !provider && !references;
  if (tests.all.every(namesNoProvider)) return { testsWithModels: tests, testProviders: [] };

  const providersByKey = new Map(
    askedProviders.map(provider => [getProviderKey(provider), provider]),
  );
  const all = tests.all.map(test =>
    chooseModels(test, providers, { providersByKey, settings }, conversion),
  );

  return {
    testsWithModels: { ...tests, all },
    testProviders: [...providersByKey.values()].slice(askedProviders.length),
  };
}

/** The models that the tests share. */
interface TestedModels {
  /** The providers that are asked; those that only tests name are added. */
  readonly providersByKey: Map<string, PromptfooProvider>;
  /** The settings of the prompt and of all tests. */
  readonly settings: ReadonlyMap<string, YamlValue>;
}

/** Returns a test with the indices of its models. Adds its own provider to `providersByKey`. */
function chooseModels(
  test: ConfiguredTest,
  { listedProviders, askedProviders }: ConfiguredProviders,
  { providersByKey, settings }: TestedModels,
  conversion: ConversionContext,
): ConfiguredTest {
  const omissionsBefore = conversion.omissionCount;
  const { provider, providers: references } = test;
  reportUnknownProviders(test, listedProviders, conversion);
  const models = askedProviders.flatMap(({ names }, index) =>
    includesName(references, names) ? [index] : [],
  );
  const ownProvider =
    provider && readPromptfooProvider(provider, conversion, { promptConfig: settings });
  const isOther =
    ownProvider !== undefined &&
    models.length > 0 &&
    hasOtherOutput(ownProvider, askedProviders[0]);
  if (isOther) conversion.reportOmission(ownProvider.place, OTHER_OUTPUT);
  const isUnasked = models.length === 0 && listedProviders.some(isAskedBy(references));
  const isLeftOut =
    test.isLeftOut ||
    isUnasked ||
    ownProvider?.isLeftOut === true ||
    conversion.omissionCount > omissionsBefore;
  if (!ownProvider || isOther || models.length === 0) return { ...test, models, isLeftOut };

  const key = getProviderKey(ownProvider);
  if (!providersByKey.has(key)) providersByKey.set(key, ownProvider);
  return { ...test, models: [[...providersByKey.keys()].indexOf(key)], isLeftOut };
}

/**
 * Returns a test for providers that references include and that get the prompt, unless they are
 * left out.
 */
function isAskedBy(
  references: readonly string[] | undefined,
): (provider: PromptfooProvider) => boolean {
  return ({ names, isAsked }) => isAsked !== false && includesName(references, names);
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
