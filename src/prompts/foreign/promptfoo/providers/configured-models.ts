import type { JsonObject } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConvertedPrompt } from '../../converted-prompt.ts';
import { formatModelsFile, type TestFileParts } from '../../file-texts.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { ConfiguredPrompt } from '../prompts/configured-prompt.ts';
import type { ConfiguredTests } from '../tests/configured-test.ts';
import { assignTestModels } from './assign-test-models.ts';
import type { PromptfooProvider } from './promptfoo-provider.ts';
import { hasOtherOutput, OTHER_OUTPUT_MESSAGE, readPromptfooProviders } from './read-providers.ts';

/** The models of a configuration, and its tests with the models that each asks. */
export interface ConfiguredModels {
  readonly tests: ConfiguredTests;
  /** The configuration's providers, without those that may not be run. */
  readonly configuredProviders: readonly PromptfooProvider[];
  /** The providers that the tests of the chosen prompt ask. */
  readonly askedProviders: readonly PromptfooProvider[];
  /** The providers that only tests name. */
  readonly testProviders: readonly PromptfooProvider[];
  /** All providers, with those that judge. */
  readonly allProviders: readonly PromptfooProvider[];
  /** False if the configuration gives the chosen prompt to no provider. */
  readonly isPromptAsked: boolean;
}

/** The chosen prompt among all prompts, and the tests: they decide which models are asked. */
interface PromptAndTests {
  readonly prompts: readonly ConfiguredPrompt[];
  readonly prompt: ConfiguredPrompt;
  /** The settings of the prompt and of all tests. */
  readonly settings: ReadonlyMap<string, YamlValue>;
  readonly tests: ConfiguredTests;
}

/** Reads the models that a prompt runs with, including those that tests add. */
export function readConfiguredModels(
  providersNode: YamlValue | undefined,
  { prompts, prompt, settings, tests }: PromptAndTests,
  conversion: ConversionContext,
): ConfiguredModels {
  const providers = readPromptfooProviders(
    providersNode,
    { all: prompts, chosen: prompt },
    conversion,
    settings,
  );
  const configuredProviders = providers.filter(({ isLeftOut }) => isLeftOut !== true);
  const providersOfPrompt = configuredProviders.filter(({ isAsked }) => isAsked !== false);
  const providersForTests = withOneOutput(providersOfPrompt, conversion);
  const { testsWithModels, testProviders } = assignTestModels(
    tests,
    { listedProviders: providers, askedProviders: providersForTests },
    settings,
    conversion,
  );

  return {
    tests: testsWithModels,
    configuredProviders,
    askedProviders: [...providersForTests, ...testProviders],
    testProviders,
    allProviders: [...providers, ...testProviders, ...conversion.judges],
    isPromptAsked: providersForTests.length > 0 || configuredProviders.length === 0,
  };
}

/**
 * Reports models with another answer format and leaves them out of a test: a prompt has one format
 * for all models.
 */
function withOneOutput(
  providers: readonly PromptfooProvider[],
  conversion: ConversionContext,
): readonly PromptfooProvider[] {
  const [first] = providers;
  return providers.filter(provider => {
    if (!hasOtherOutput(provider, first)) return true;
    conversion.reportOmission(provider.place, OTHER_OUTPUT_MESSAGE);
    return !conversion.isForTest;
  });
}

/**
 * Returns the models for a test file; none if the prompt file describes the configuration's only
 * model completely.
 */
export function pickTestFileModels({
  askedProviders,
  configuredProviders,
  testProviders,
}: ConfiguredModels): Pick<TestFileParts, 'models'> {
  const [first] = askedProviders;
  const isNameEnough = ({ transform, givesResults, label, config }: PromptfooProvider): boolean =>
    transform === undefined &&
    !givesResults &&
    label === undefined &&
    JSON.stringify(config) === JSON.stringify(first?.config);

  if (!askedProviders.every(isNameEnough)) {
    return { models: askedProviders.map(buildTestFileModel) };
  }

  const isEachAsked = configuredProviders.length + testProviders.length === askedProviders.length;
  if (isEachAsked && askedProviders.length <= 1) return {};
  return { models: askedProviders.map(({ model }) => model) };
}

function buildTestFileModel({
  model,
  config,
  transform,
  label,
  givesResults = false,
}: PromptfooProvider): JsonObject {
  return {
    model,
    config,
    ...(label !== undefined && { label }),
    ...(transform !== undefined && { transform }),
    ...(givesResults && { givesResults }),
  };
}

/** Returns the text of a models file for the programs and addresses; nothing if there are none. */
export function buildDeclaredModels(
  providers: readonly PromptfooProvider[],
): Pick<ConvertedPrompt, 'modelsText'> {
  const entries = new Map(
    providers.flatMap(({ model, entry }) => (entry ? [[model, entry] as const] : [])),
  );
  const addresses = providers.flatMap(({ address }) => address ?? []);
  if (entries.size + addresses.length === 0) return {};
  const addressesByName = Object.fromEntries(addresses.map(({ name, entry }) => [name, entry]));
  return { modelsText: formatModelsFile([...entries.values()], addressesByName) };
}
