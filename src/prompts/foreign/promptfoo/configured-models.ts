import type { YamlValue } from '../../../files/formats/yaml.ts';
import { type Converted, modelsFileText, type TestFileParts } from '../converted.ts';
import type { Conversion } from './conversion.ts';
import type { PromptText } from './prompt-text.ts';
import type { PromptfooProvider } from './providers/provider.ts';
import { hasOtherOutput, OTHER_OUTPUT, readPromptfooProviders } from './providers/providers.ts';
import { withTestedProviders } from './tested-providers.ts';
import type { ConfiguredTests } from './tests/tests.ts';

/** The models of a configuration, and its tests with the models that each asks. */
export interface ConfiguredModels {
  readonly tests: ConfiguredTests;
  /** The configuration's providers, without those that may not be run. */
  readonly listed: readonly PromptfooProvider[];
  /** The providers that the tests of the chosen prompt ask. */
  readonly asked: readonly PromptfooProvider[];
  /** The providers that only tests name. */
  readonly added: readonly PromptfooProvider[];
  /** All providers, with those that judge. */
  readonly known: readonly PromptfooProvider[];
  /** False if the chosen prompt is one of no provider's. */
  readonly areAsked: boolean;
}

/** Reads the models that a prompt runs with, including those that tests add. */
export function convertedModels(
  entries: ReadonlyMap<string, YamlValue>,
  {
    prompts,
    prompt,
    settings,
    configured,
  }: {
    readonly prompts: readonly PromptText[];
    readonly prompt: PromptText;
    readonly settings: ReadonlyMap<string, YamlValue>;
    readonly configured: ConfiguredTests;
  },
  conversion: Conversion,
): ConfiguredModels {
  const providersValue = entries.get('providers') ?? entries.get('targets');
  const providers = readPromptfooProviders(
    providersValue,
    { all: prompts, chosen: prompt },
    conversion,
    settings,
  );
  const listedProviders = providers.filter(({ isLeftOut }) => isLeftOut !== true);
  const ofPrompt = listedProviders.filter(({ isAsked }) => isAsked !== false);
  const askedProviders = withOneOutput(ofPrompt, conversion);
  const { tests, added } = withTestedProviders(
    configured,
    { listed: providers, asked: askedProviders },
    settings,
    conversion,
  );
  return {
    tests,
    listed: listedProviders,
    asked: [...askedProviders, ...added],
    added,
    known: [...providers, ...added, ...conversion.judges],
    areAsked: askedProviders.length > 0 || listedProviders.length === 0,
  };
}

/**
 * Reports models with another answer format and leaves them out of a test: a prompt has one format for all models.
 */
function withOneOutput(
  providers: readonly PromptfooProvider[],
  conversion: Conversion,
): readonly PromptfooProvider[] {
  const [first] = providers;
  return providers.filter(provider => {
    if (!hasOtherOutput(provider, first)) return true;
    conversion.note(provider.at, OTHER_OUTPUT);
    return !conversion.isForTest;
  });
}

/** Returns the models for a test file; none if the prompt file describes the configuration's only model completely. */
export function testFileModels(
  providers: readonly PromptfooProvider[],
  ofPrompt: readonly PromptfooProvider[],
): Pick<TestFileParts, 'models'> {
  const [first, ...others] = providers;
  const isPlain = ({ transform, givesResults, label, config }: PromptfooProvider): boolean =>
    transform === undefined &&
    !givesResults &&
    label === undefined &&
    JSON.stringify(config) === JSON.stringify(first?.config);
  if (ofPrompt.length === providers.length && others.length === 0 && (!first || isPlain(first))) return {};
  if (providers.every(isPlain)) return { models: providers.map(({ model }) => model) };
  return {
    models: providers.map(({ model, config, transform, label, givesResults = false }) => ({
      model,
      config,
      ...(label !== undefined && { label }),
      ...(transform !== undefined && { transform }),
      ...(givesResults && { givesResults }),
    })),
  };
}

/** Returns the text of a models file for the programs and addresses; nothing if there are none. */
export function declaredModels(providers: readonly PromptfooProvider[]): Pick<Converted, 'models'> {
  const entries = new Map(providers.flatMap(({ model, entry }) => (entry ? [[model, entry] as const] : [])));
  const addressed = providers.flatMap(({ address }) => address ?? []);
  if (entries.size + addressed.length === 0) return {};
  const byName = Object.fromEntries(addressed.map(({ name, entry }) => [name, entry]));
  return { models: modelsFileText([...entries.values()], byName) };
}
