import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { withoutUndefined } from '../../files/formats/json.ts';
import { type ModelEntry, type Provider, RESERVED_NAMES } from '../model-entry.ts';
import type { OfferedModel } from '../providers/list-models.ts';
import type { ModelsFile } from './models-file.ts';

const HEAD = ` Models of other endpoints. Change what you like: \`promptrun models discover\` adds what is new
 and leaves the rest as it is.
`;

/** The models of a provider to add to the file. */
interface ProviderOffer {
  readonly provider: Provider;
  /** The variable that holds its key, if one is set. */
  readonly keyVariable: string | undefined;
  readonly models: readonly OfferedModel[];
}

/**
 * Adds the new models of providers to the text of models.yaml, and returns it with the added names for each provider.
 * Returns the same text if there is nothing new.
 *
 * @param text undefined if the file doesn't exist yet
 * @param isPrefix returns true for the prefix of a provider, which no new name may begin with
 */
export function addToModelsFile(
  text: string | undefined,
  modelsFile: ModelsFile,
  offers: readonly ProviderOffer[],
  isPrefix: (name: string) => boolean,
): { text: string | undefined; added: readonly (readonly string[])[] } {
  const names = new Set([
    ...RESERVED_NAMES,
    ...modelsFile.aliases.keys(),
    ...modelsFile.models.map(({ model }) => model),
  ]);
  const document = parseDocument(text ?? '');
  if (text === undefined) document.commentBefore = HEAD.trimEnd();
  let isChanged = false;
  const addOrComplete = ({ provider, keyVariable }: ProviderOffer, offeredModel: OfferedModel): string[] => {
    const entry = declaredModel(modelsFile, provider, offeredModel.id);
    if (entry && !hasNews(offeredModel, entry)) return [];
    isChanged = true;
    if (entry) {
      fillIn(document, entry, offeredModel);
      return [];
    }
    addProvider(document, modelsFile, provider, keyVariable);
    const [prefix = '', ...rest] = offeredModel.id.split('/');
    if (rest.length > 0 && isPrefix(prefix)) names.add(offeredModel.id);
    const model = freeName(offeredModel.id, nameInFile(provider), names);
    addModel(document, model, nameInFile(provider), offeredModel);
    return [model];
  };
  const added = offers.map(offer => offer.models.flatMap(model => addOrComplete(offer, model)));
  return { text: isChanged ? document.toString({ lineWidth: 0 }) : text, added };
}

function addModel(document: Document, model: string, provider: string, offered: OfferedModel): void {
  const { id, modality } = offered;
  const entry = { model, modality, provider, id: id === model ? undefined : id, ...extraFields(offered) };
  modelSequence(document).add(document.createNode(withoutUndefined(entry), { flow: true }));
}

function extraFields({ price, shutdownDate }: Partial<OfferedModel>): object {
  return withoutUndefined({ price, shutdown_date: shutdownDate });
}

function declaredModel({ models }: ModelsFile, provider: Provider, offered: string): ModelEntry | undefined {
  return models.find(
    entry => entry.provider?.name === nameInFile(provider) && (entry.id ?? entry.model) === offered,
  );
}

/** Returns true if an endpoint lists a price or shutdown date that the file lacks. */
function hasNews({ price, shutdownDate }: OfferedModel, entry: ModelEntry): boolean {
  return (price && !entry.price) || (shutdownDate !== undefined && entry.shutdownDate === undefined);
}

function fillIn(document: Document, { model }: ModelEntry, offered: OfferedModel): void {
  const item = modelSequence(document).items.find(node => isMap(node) && node.get('model') === model);
  for (const [key, value] of Object.entries(extraFields(offered))) {
    if (isMap(item) && !item.has(key)) item.set(key, document.createNode(value, { flow: true }));
  }
}

/** Returns the name of a provider in the file. A moved one gets another name, because its own means the original. */
export function nameInFile({ name, baseUrl, isMoved }: Provider): string {
  return isMoved ? `${name}-${new URL(baseUrl).host.replace(/[^\w.-]+/g, '-')}` : name;
}

/** Returns a model's name, with its provider as a prefix if the name is taken. */
function freeName(id: string, provider: string, names: Set<string>): string {
  let name = id;
  for (let count = 1; names.has(name); count += 1) {
    name = count === 1 ? `${provider}/${id}` : `${provider}/${id}-${count}`;
  }
  names.add(name);
  return name;
}

/** Adds a provider to the file if its address was moved; the others are known without an entry. */
function addProvider(
  document: Document,
  { providers }: ModelsFile,
  provider: Provider,
  keyVariable: string | undefined,
): void {
  const name = nameInFile(provider);
  if (!provider.isMoved || providers.some(described => described.name === name)) return;
  const { baseUrl, engine, keyVariables, needsKey, batch } = provider;
  const apiKeyEnv = keyVariable ?? (needsKey ? keyVariables[0] : undefined);
  const entry = withoutUndefined({
    baseUrl,
    apiKeyEnv,
    engine: engine === 'openai' ? undefined : engine,
    batch: batch || undefined,
  });
  if (!isMap(document.get('providers'))) document.set('providers', document.createNode({}));
  const map = toBlockStyle(document.get('providers') as YAMLMap);
  map.set(name, document.createNode(entry, { flow: true }));
}

function modelSequence(document: Document): YAMLSeq {
  if (!isSeq(document.get('models'))) document.set('models', document.createNode([]));
  return toBlockStyle(document.get('models') as YAMLSeq);
}

/** Turns an empty collection to block style, with one item per line. */
function toBlockStyle<T extends YAMLMap | YAMLSeq>(node: T): T {
  if (node.items.length === 0) node.flow = false;
  return node;
}
