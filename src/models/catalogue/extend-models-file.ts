import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { withoutUndefined } from '../../files/formats/json.ts';
import { type ModelEntry, type Provider, RESERVED_MODEL_NAMES } from '../model-entry.ts';
import type { OfferedModel } from '../providers/list-models.ts';
import { splitProviderPrefix } from '../providers/providers.ts';
import type { ModelsFile } from './models-file.ts';

const FILE_COMMENT = ` Models of other endpoints. Change what you like: \`promptrun models discover\` adds what is new
 and leaves the rest as it is.
`;

/** The models of a provider to add to the file. */
interface ProviderOffer {
  readonly provider: Provider;
  /** The variable that holds its key, if one is set. */
  readonly keyVariable: string | undefined;
  readonly models: readonly OfferedModel[];
}

/** Returns true for the prefix of a provider: no new name may begin with one. */
type IsProviderPrefix = (name: string) => boolean;

/**
 * Adds the new models of providers to the text of models.yaml, and returns it with the added names
 * for each provider. Returns the same text if there is nothing new.
 *
 * @param text undefined if the file doesn't exist yet
 */
export function extendModelsFile(
  text: string | undefined,
  modelsFile: ModelsFile,
  offers: readonly ProviderOffer[],
  isProviderPrefix: IsProviderPrefix,
): { text: string | undefined; addedNames: readonly (readonly string[])[] } {
  const extension = new ModelsFileExtension(text, modelsFile, isProviderPrefix);
  const addedNames = offers.map(offer =>
    offer.models.flatMap(offeredModel => extension.addOrComplete(offer, offeredModel) ?? []),
  );
  return { text: extension.toText(), addedNames };
}

/** The text of models.yaml while models are added. */
class ModelsFileExtension {
  readonly #oldText: string | undefined;
  readonly #modelsFile: ModelsFile;
  readonly #isProviderPrefix: IsProviderPrefix;
  readonly #document: Document;
  /** The names that no further model may have. */
  readonly #takenNames: Set<string>;
  #isChanged = false;

  constructor(
    text: string | undefined,
    modelsFile: ModelsFile,
    isProviderPrefix: IsProviderPrefix,
  ) {
    this.#oldText = text;
    this.#modelsFile = modelsFile;
    this.#isProviderPrefix = isProviderPrefix;
    this.#document = parseDocument(text ?? '');
    if (text === undefined) this.#document.commentBefore = FILE_COMMENT.trimEnd();
    this.#takenNames = new Set([
      ...RESERVED_MODEL_NAMES,
      ...modelsFile.aliases.keys(),
      ...modelsFile.models.map(({ model }) => model),
    ]);
  }

  toText(): string | undefined {
    return this.#isChanged ? this.#document.toString({ lineWidth: 0 }) : this.#oldText;
  }

  /**
   * Adds a model and returns its name. If the file has the model, adds the listed fields that its
   * entry lacks, and returns undefined.
   */
  addOrComplete(
    { provider, keyVariable }: ProviderOffer,
    offeredModel: OfferedModel,
  ): string | undefined {
    const entry = findEntry(this.#modelsFile, provider, offeredModel.id);
    if (entry) {
      if (hasNewFields(offeredModel, entry)) this.#addMissingFields(entry, offeredModel);
      return undefined;
    }

    this.#isChanged = true;
    this.#addProvider(provider, keyVariable);
    const providerName = getNameInFile(provider);
    const model = this.#findFreeName(offeredModel.id, providerName);
    this.#takenNames.add(model);
    this.#addModel(model, providerName, offeredModel);

    return model;
  }

  /**
   * Returns a name for a model: its id, or its id after the provider's prefix if the id is taken or
   * begins with the prefix of a provider.
   */
  #findFreeName(id: string, providerName: string): string {
    const prefix = splitProviderPrefix(id)?.prefix;
    const hasProviderPrefix = prefix !== undefined && this.#isProviderPrefix(prefix);
    if (!hasProviderPrefix && !this.#takenNames.has(id)) return id;

    let name = `${providerName}/${id}`;
    for (let number = 2; this.#takenNames.has(name); number += 1) {
      name = `${providerName}/${id}-${number}`;
    }
    return name;
  }

  #addMissingFields({ model }: ModelEntry, offeredModel: OfferedModel): void {
    this.#isChanged = true;
    const item = ensureModelSequence(this.#document).items.find(
      node => isMap(node) && node.get('model') === model,
    );
    for (const [key, value] of Object.entries(buildListedFields(offeredModel))) {
      if (isMap(item) && !item.has(key)) {
        item.set(key, this.#document.createNode(value, { flow: true }));
      }
    }
  }

  #addModel(model: string, provider: string, offeredModel: OfferedModel): void {
    const { id, modality } = offeredModel;
    const entry = {
      model,
      modality,
      provider,
      id: id === model ? undefined : id,
      ...buildListedFields(offeredModel),
    };
    const node = this.#document.createNode(withoutUndefined(entry), { flow: true });
    ensureModelSequence(this.#document).add(node);
  }

  /** Adds a provider at another address than its own; others are known without an entry. */
  #addProvider(provider: Provider, keyVariable: string | undefined): void {
    const name = getNameInFile(provider);
    const isDescribed = this.#modelsFile.providers.some(described => described.name === name);
    if (!provider.hasCustomBaseUrl || isDescribed) return;

    const { baseUrl, interfaceName, keyVariables, needsKey, takesBatches } = provider;
    const entry = withoutUndefined({
      baseUrl,
      apiKeyEnv: keyVariable ?? (needsKey ? keyVariables[0] : undefined),
      engine: interfaceName === 'openai' ? undefined : interfaceName,
      batch: takesBatches || undefined,
    });

    const document = this.#document;
    if (!isMap(document.get('providers'))) document.set('providers', document.createNode({}));
    const providersNode = toBlockStyle(document.get('providers') as YAMLMap);
    providersNode.set(name, document.createNode(entry, { flow: true }));
  }
}

function buildListedFields({ price, shutdownDate }: Partial<OfferedModel>): object {
  return withoutUndefined({ price, shutdown_date: shutdownDate });
}

/** Returns the entry of a provider's model in the file. */
function findEntry({ models }: ModelsFile, provider: Provider, id: string): ModelEntry | undefined {
  return models.find(
    entry => entry.provider?.name === getNameInFile(provider) && (entry.id ?? entry.model) === id,
  );
}

/** Returns true if an endpoint lists a price or shutdown date that the file lacks. */
function hasNewFields({ price, shutdownDate }: OfferedModel, entry: ModelEntry): boolean {
  return (
    (price && !entry.price) || (shutdownDate !== undefined && entry.shutdownDate === undefined)
  );
}

/**
 * Returns the name of a provider in the file. One at another address gets another name, because its
 * own means the original.
 */
export function getNameInFile({ name, baseUrl, hasCustomBaseUrl }: Provider): string {
  return hasCustomBaseUrl ? `${name}-${new URL(baseUrl).host.replace(/[^\w.-]+/g, '-')}` : name;
}

function ensureModelSequence(document: Document): YAMLSeq {
  if (!isSeq(document.get('models'))) document.set('models', document.createNode([]));
  return toBlockStyle(document.get('models') as YAMLSeq);
}

/** Sets an empty collection to block style, with one item per line. */
function toBlockStyle<T extends YAMLMap | YAMLSeq>(node: T): T {
  if (node.items.length === 0) node.flow = false;
  return node;
}
