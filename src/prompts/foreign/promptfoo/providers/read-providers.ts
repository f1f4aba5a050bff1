import { isJsonList } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { includesPrompt, type PromptNames, readReferences } from '../prompts/prompt-references.ts';
import type { PromptfooProvider } from './promptfoo-provider.ts';
import { KEEPS_ID, readProviderParts, readWrittenParts } from './provider-parts.ts';
import { readPromptfooProvider } from './read-provider.ts';

/** The prompt that is converted, among all prompts of its configuration. */
interface PromptChoice {
  readonly all: readonly PromptNames[];
  readonly chosen: PromptNames & { readonly readsLabel?: boolean };
}

/**
 * Reads the models of a configuration.
 *
 * @param promptConfig the settings of the prompt and of all tests, which win over the providers'
 * own
 */
export function readPromptfooProviders(
  node: YamlValue | undefined,
  prompts: PromptChoice,
  conversion: ConversionContext,
  promptConfig?: ReadonlyMap<string, YamlValue>,
): PromptfooProvider[] {
  if (!node || node.isEmpty) return [];

  const items = listProviderItems(node, conversion);
  const referencesByProvider = groupReferencesByProvider(items);
  const providersByKey = new Map<string, PromptfooProvider>();
  for (const item of items) {
    const provider = readPromptfooProvider(item, conversion, { promptConfig });
    const isAsked = includesPrompt(
      listReferences(item, referencesByProvider, prompts.all, conversion),
      prompts.chosen,
    );
    if (!conversion.isForTest) reportListedPrompts(item, conversion);
    if (!provider) continue;

    const label = prompts.chosen.readsLabel ? (readWrittenParts(item).label ?? '') : undefined;
    const key = JSON.stringify([getProviderKey({ ...provider, label }), isAsked]);
    const names = [...(providersByKey.get(key)?.names ?? []), ...provider.names];
    providersByKey.set(key, { ...provider, names, label, isAsked });
  }

  return [...providersByKey.values()];
}

/**
 * Collects the providers to which a judge can refer: promptfoo takes the last of equal ids, and
 * labels only if no id is equal.
 */
export function collectNamedProviders(
  node: YamlValue | undefined,
  conversion: ConversionContext,
): void {
  if (!node || node.isEmpty || !conversion.isForTest) return;

  const { namedProviders } = conversion;
  const items = listProviderItems(node, conversion).filter(item => item.scalar === undefined);
  for (const item of items) {
    const { id } = readProviderParts(item);
    if (KEEPS_ID.test(id)) namedProviders.set(id, item);
  }

  for (const item of items) {
    const { label } = readProviderParts(item);
    if (label !== undefined && !namedProviders.has(label)) namedProviders.set(label, item);
  }
}

/**
 * Returns a key that two providers share if they get the same requests and their answers are read
 * alike.
 */
export function getProviderKey({
  model,
  config,
  output,
  transform,
  label,
  usesResponses = false,
}: PromptfooProvider): string {
  return JSON.stringify([model, config, output, transform, label, usesResponses]);
}

/** Returns true if a provider's answer format differs from that of the configuration's first. */
export function hasOtherOutput(
  { output, entry }: PromptfooProvider,
  first: PromptfooProvider | undefined,
): boolean {
  return !entry && JSON.stringify(output) !== JSON.stringify(first?.output);
}

export const OTHER_OUTPUT =
  'an answer format other than that of the first provider has no equivalent';

/** Reports that a test file can't list the prompts of a provider, because it is for one prompt. */
function reportListedPrompts(item: YamlValue, conversion: ConversionContext): void {
  const referencesByProvider =
    item.scalar === undefined ? readProviderParts(item).entries.get('prompts') : undefined;
  if (referencesByProvider === undefined) return;
  const { id } = readProviderParts(item);
  conversion.reportHarmless(
    referencesByProvider,
    `\`prompts\` of the provider \`${id}\` has no equivalent: the test file names the models that are asked with its prompt`,
  );
}

/**
 * Returns the references to prompts by the provider's id and label. promptfoo takes the last of
 * equal names.
 */
function groupReferencesByProvider(
  items: readonly YamlValue[],
): Map<string, readonly string[] | undefined> {
  const referencesByProvider = new Map<string, readonly string[] | undefined>();
  for (const item of items) {
    if (item.scalar !== undefined) continue;
    const { id, label, isById, entries } = readProviderParts(item);
    const references = readReferences(entries.get('prompts'));
    referencesByProvider.set(id, references);
    if (label !== undefined && isById) referencesByProvider.set(label, references);
  }
  return referencesByProvider;
}

/**
 * Returns the references to the prompts of a provider; undefined for every prompt. Reports
 * references to no prompt.
 */
function listReferences(
  item: YamlValue,
  referencesByProvider: ReadonlyMap<string, readonly string[] | undefined>,
  prompts: readonly PromptNames[],
  conversion: ConversionContext,
): readonly string[] | undefined {
  const { id, writtenId, label } = readWrittenParts(item);
  const references = referencesByProvider.get(label ?? id);
  if (references === undefined) return undefined;

  if (label === undefined && !KEEPS_ID.test(writtenId)) {
    conversion.reportOmission(
      item,
      `\`prompts\` of the provider \`${id}\` has no equivalent: it has no \`label\``,
    );
    return [];
  }

  if (!prompts.some(prompt => includesPrompt(references, prompt))) {
    conversion.reportOmission(
      item,
      `\`prompts\` of the provider \`${id}\` names none of the prompts`,
    );
  }

  return references;
}

/** Returns the items of a list of providers, with those of referenced files. */
function listProviderItems(node: YamlValue, conversion: ConversionContext): YamlValue[] {
  const items = isJsonList(node.toJson()) ? node.readItems('providers') : [node];
  return items.flatMap(item => {
    const { scalar } = item;
    if (scalar === undefined || !/^file:\/\/.*\.(?:ya?ml|json)$/iu.test(scalar)) return [item];
    return listProviderItems(conversion.files.readYaml(scalar, item), conversion);
  });
}
