import { isJsonList } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { includesPrompt, type PromptNames, readReferences } from '../prompts/prompt-references.ts';
import type { PromptfooProvider } from './promptfoo-provider.ts';
import { PROVIDER_THAT_KEEPS_ID, readPartsOrId, readProviderParts } from './provider-parts.ts';
import { readPromptfooProvider } from './read-provider.ts';

export const OTHER_OUTPUT_MESSAGE =
  'an answer format other than that of the first provider has no equivalent';

/** Matches a file that lists providers. */
const PROVIDERS_FILE = /^file:\/\/.*\.(?:ya?ml|json)$/iu;

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
      findPromptReferences(item, referencesByProvider, prompts.all, conversion),
      prompts.chosen,
    );
    if (!conversion.isForTest) reportListedPrompts(item, conversion);
    if (!provider) continue;

    const label = prompts.chosen.readsLabel ? (readPartsOrId(item).label ?? '') : undefined;
    const key = JSON.stringify([getProviderKey({ ...provider, label }), isAsked]);
    const names = [...(providersByKey.get(key)?.names ?? []), ...provider.names];
    providersByKey.set(key, { ...provider, names, label, isAsked });
  }

  return [...providersByKey.values()];
}

/**
 * Collects the providers to which a judge can refer. Of equal ids promptfoo takes the last; it
 * looks for a label only if there is no such id.
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
    if (PROVIDER_THAT_KEEPS_ID.test(id)) namedProviders.set(id, item);
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

/** Reports that a test file can't list the prompts of a provider, because it is for one prompt. */
function reportListedPrompts(item: YamlValue, conversion: ConversionContext): void {
  const promptsNode =
    item.scalar === undefined ? readProviderParts(item).entries.get('prompts') : undefined;
  if (promptsNode === undefined) return;
  const { id } = readProviderParts(item);
  conversion.reportHarmless(
    promptsNode,
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
    const { id, label, isKeyedById, entries } = readProviderParts(item);
    const references = readReferences(entries.get('prompts'));
    referencesByProvider.set(id, references);
    if (label !== undefined && !isKeyedById) referencesByProvider.set(label, references);
  }
  return referencesByProvider;
}

/**
 * Returns the references to the prompts of a provider; undefined if it gets every prompt. Reports
 * references that name no prompt.
 */
function findPromptReferences(
  item: YamlValue,
  referencesByProvider: ReadonlyMap<string, readonly string[] | undefined>,
  prompts: readonly PromptNames[],
  conversion: ConversionContext,
): readonly string[] | undefined {
  const { id, writtenId, label } = readPartsOrId(item);
  const references = referencesByProvider.get(label ?? id);
  if (references === undefined) return undefined;

  if (label === undefined && !PROVIDER_THAT_KEEPS_ID.test(writtenId)) {
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
    if (scalar === undefined || !PROVIDERS_FILE.test(scalar)) return [item];
    return listProviderItems(conversion.files.readYaml(scalar, item), conversion);
  });
}
