import type { YamlValue } from '../../../files/formats/yaml.ts';
import type { Conversion } from './conversion.ts';
import { includesName } from './prompt-references.ts';
import type { PromptfooProvider } from './providers/provider.ts';
import { hasOtherOutput, OTHER_OUTPUT, providerKey } from './providers/providers.ts';
import { readPromptfooProvider } from './providers/read-provider.ts';
import type { ConfiguredTest } from './tests/configured-test.ts';
import type { ConfiguredTests } from './tests/tests.ts';

/** The tests, each with the models that it runs with, and the providers that only tests name. */
interface TestedProviders {
  readonly tests: ConfiguredTests;
  /** They come after those of the configuration. */
  readonly added: readonly PromptfooProvider[];
}

/**
 * Chooses the models of tests that name providers.
 *
 * @param listed all providers of the configuration
 * @param asked those that get the prompt
 * @param settings the settings of the prompt and of all tests
 */
export function withTestedProviders(
  tests: ConfiguredTests,
  { listed, asked }: Readonly<Record<'listed' | 'asked', readonly PromptfooProvider[]>>,
  settings: ReadonlyMap<string, YamlValue>,
  conversion: Conversion,
): TestedProviders {
  const isPlain = ({ provider, providers }: ConfiguredTest): boolean => !provider && !providers;
  if (tests.all.every(isPlain)) return { tests, added: [] };
  const providersByKey = new Map(asked.map(provider => [providerKey(provider), provider]));
  const testsWithModels = tests.all.map((test): ConfiguredTest => {
    const leftOutBefore = conversion.leftOut;
    const { provider, providers } = test;
    noteUnknownProvider(test, listed, conversion);
    const models = asked.flatMap(({ names }, index) => (includesName(providers, names) ? [index] : []));
    const ownProvider = provider && readPromptfooProvider(provider, conversion, { promptConfig: settings });
    const isOther = ownProvider !== undefined && models.length > 0 && hasOtherOutput(ownProvider, asked[0]);
    if (isOther) conversion.note(ownProvider.at, OTHER_OUTPUT);
    const isUnasked = models.length === 0 && listed.some(isAskedBy(providers));
    const isLeftOut =
      test.isLeftOut || isUnasked || ownProvider?.isLeftOut === true || conversion.leftOut > leftOutBefore;
    if (!ownProvider || isOther || models.length === 0) return { ...test, models, isLeftOut };
    const key = providerKey(ownProvider);
    if (!providersByKey.has(key)) providersByKey.set(key, ownProvider);
    return { ...test, models: [[...providersByKey.keys()].indexOf(key)], isLeftOut };
  });
  return {
    tests: { ...tests, all: testsWithModels },
    added: [...providersByKey.values()].slice(asked.length),
  };
}

/** Returns a test for providers that references include and that get the prompt, unless they are left out. */
function isAskedBy(references: readonly string[] | undefined): (provider: PromptfooProvider) => boolean {
  return ({ names, isAsked }) => isAsked !== false && includesName(references, names);
}

/** Reports references to no provider, which promptfoo refuses. */
function noteUnknownProvider(
  { at = { line: 1, column: 1 }, providers = [] }: ConfiguredTest,
  listedProviders: readonly PromptfooProvider[],
  conversion: Conversion,
): void {
  for (const reference of providers) {
    if (listedProviders.some(({ names }) => includesName([reference], names))) continue;
    conversion.note(at, `no known provider is called \`${reference}\``);
  }
}
