import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { type ModelEntry, type Provider, RESERVED_NAMES } from '../entry.ts';
import type { OfferedModel } from '../providers/endpoints.ts';
import type { ModelsFile } from './models-file.ts';

const HEAD = ` Models of other endpoints. Change what you like: \`promptrun models discover\` adds what is new
 and leaves the rest as it is.
`;

/** The models of a provider that are to be in the file. */
interface ProviderOffer {
  readonly provider: Provider;
  /** The variable that holds its key, if one does. */
  readonly keyVariable: string | undefined;
  readonly models: readonly OfferedModel[];
}

/**
 * The text of models.yaml with what is offered and new in it, and the names of what is new, for each provider. Gives the
 * very same text if nothing is.
 *
 * @param text undefined if there is no file yet
 * @param isPrefix true for what a name can begin with to be taken for a provider's: no new name takes such a place
 */
export function addToModelsFile(
  text: string | undefined,
  described: ModelsFile,
  offers: readonly ProviderOffer[],
  isPrefix: (name: string) => boolean,
): { text: string | undefined; added: readonly (readonly string[])[] } {
  const names = new Set([
    ...RESERVED_NAMES,
    ...described.aliases.keys(),
    ...described.models.map(({ model }) => model),
  ]);
  const document = parseDocument(text ?? '');
  if (text === undefined) document.commentBefore = HEAD.trimEnd();
  let isChanged = false;
  const addOrComplete = ({ provider, keyVariable }: ProviderOffer, offered: OfferedModel): string[] => {
    const entry = describedAs(described, provider, offered.id);
    if (entry && !isMoreThan(offered, entry)) return [];
    isChanged = true;
    if (entry) {
      fillIn(document, entry, offered);
      return [];
    }
    addProvider(document, described, provider, keyVariable);
    const [prefix = '', ...rest] = offered.id.split('/');
    if (rest.length > 0 && isPrefix(prefix)) names.add(offered.id);
    const model = freeName(offered.id, provider.name, names);
    addModel(document, model, fileName(provider), offered);
    return [model];
  };
  const added = offers.map(offer => offer.models.flatMap(model => addOrComplete(offer, model)));
  return { text: isChanged ? document.toString({ lineWidth: 0 }) : text, added };
}

function addModel(document: Document, model: string, provider: string, offered: OfferedModel): void {
  const { id, modality } = offered;
  const entry = { model, modality, provider, ...(id !== model && { id }), ...extras(offered) };
  sequenceOf(document).add(document.createNode(entry, { flow: true }));
}

function extras({ price, shutdownDate }: Partial<OfferedModel>): object {
  return { ...(price && { price }), ...(shutdownDate !== undefined && { shutdown_date: shutdownDate }) };
}

function describedAs({ models }: ModelsFile, provider: Provider, offered: string): ModelEntry | undefined {
  return models.find(
    entry => entry.provider?.name === fileName(provider) && (entry.id ?? entry.model) === offered,
  );
}

/** Whether an endpoint tells something that the file does not say. */
function isMoreThan({ price, shutdownDate }: OfferedModel, entry: ModelEntry): boolean {
  return (price && !entry.price) || (shutdownDate !== undefined && entry.shutdownDate === undefined);
}

function fillIn(document: Document, { model }: ModelEntry, offered: OfferedModel): void {
  const item = sequenceOf(document).items.find(node => isMap(node) && node.get('model') === model);
  for (const [key, value] of Object.entries(extras(offered))) {
    if (isMap(item) && !item.has(key)) item.set(key, document.createNode(value, { flow: true }));
  }
}

/** A known provider at another address has another name in the file: its own name goes on leading to the provider. */
export function fileName({ name, baseUrl, isMoved }: Provider): string {
  return isMoved ? `${name}-${new URL(baseUrl).host.replace(/[^\w.-]+/g, '-')}` : name;
}

/** A model's own name, or, if another has it, with its provider's before it. */
function freeName(id: string, provider: string, names: Set<string>): string {
  let name = id;
  for (let count = 1; names.has(name); count += 1) {
    name = count === 1 ? `${provider}/${id}` : `${provider}/${id}-${count}`;
  }
  names.add(name);
  return name;
}

/** Known providers need no description, unless they were moved: then all that is known of them is written down. */
function addProvider(
  document: Document,
  { providers }: ModelsFile,
  provider: Provider,
  keyVariable: string | undefined,
): void {
  const name = fileName(provider);
  if (!provider.isMoved || providers.some(described => described.name === name)) return;
  const { baseUrl, engine, keyVariables, needsKey, batch } = provider;
  const apiKeyEnv = keyVariable ?? (needsKey ? keyVariables[0] : undefined);
  const entry = {
    baseUrl,
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
    ...(engine === 'openai' ? {} : { engine }),
    ...(batch && { batch }),
  };
  if (!isMap(document.get('providers'))) document.set('providers', document.createNode({}));
  const map = asBlock(document.get('providers') as YAMLMap);
  map.set(name, document.createNode(entry, { flow: true }));
}

function sequenceOf(document: Document): YAMLSeq {
  if (!isSeq(document.get('models'))) document.set('models', document.createNode([]));
  return asBlock(document.get('models') as YAMLSeq);
}

/** A list that grows long is read line by line. */
function asBlock<T extends YAMLMap | YAMLSeq>(node: T): T {
  if (node.items.length === 0) node.flow = false;
  return node;
}
