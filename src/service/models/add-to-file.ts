import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import type { OfferedModel } from './endpoints.ts';
import { type Provider, RESERVED_NAMES } from './entry.ts';
import type { ModelsFile } from './models-file.ts';

const HEAD = ` Models of other endpoints. Change what you like: \`promptrun models discover\` adds what is new
 and leaves the rest as it is.
`;

/** The models of a provider that are to be in the file. */
export interface Found {
  readonly provider: Provider;
  readonly models: readonly OfferedModel[];
}

/**
 * The text of models.yaml with what was found and is new in it, and the names of what is new, for each provider. Gives
 * the very same text where nothing is.
 *
 * @param text undefined where there is no file yet
 */
export function addToModelsFile(
  text: string | undefined,
  described: ModelsFile,
  found: readonly Found[],
): { text: string | undefined; added: readonly (readonly string[])[] } {
  const names = new Set([
    ...RESERVED_NAMES,
    ...described.aliases.keys(),
    ...described.models.map(({ model }) => model),
  ]);
  const added = found.map(({ provider, models }) =>
    models
      .filter(({ id }) => !isDescribed(described, provider, id))
      .map(model => ({ ...model, model: freeName(model.id, provider.name, names) })),
  );
  const all = added.flat();
  if (all.length === 0) return { text, added: added.map(() => []) };
  const document = parseDocument(text ?? '');
  if (text === undefined) document.commentBefore = HEAD.trimEnd();
  found.forEach(({ provider }, index) => {
    const news = added[index] ?? [];
    if (news.length === 0) return;
    addProvider(document, described, provider);
    const list = sequenceOf(document);
    for (const { model, modality, id } of news) {
      const entry = { model, modality, provider: provider.name, ...(id === model ? {} : { id }) };
      list.add(document.createNode(entry, { flow: true }));
    }
  });
  return {
    text: document.toString({ lineWidth: 0 }),
    added: added.map(news => news.map(({ model }) => model)),
  };
}

function isDescribed({ models }: ModelsFile, { name }: Provider, offered: string): boolean {
  return models.some(({ provider, id, model }) => provider?.name === name && (id ?? model) === offered);
}

/** A model's own name, or, where another has it, with its provider's before it. */
function freeName(id: string, provider: string, names: Set<string>): string {
  let name = id;
  for (let count = 1; names.has(name); count += 1) {
    name = count === 1 ? `${provider}/${id}` : `${provider}/${id}-${count}`;
  }
  names.add(name);
  return name;
}

function addProvider(document: Document, { providers }: ModelsFile, provider: Provider): void {
  if (providers.some(({ name }) => name === provider.name)) return;
  const { name, baseUrl, apiKeyEnv } = provider;
  const entry = document.createNode(
    { baseUrl, ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }) },
    { flow: true },
  );
  mapOf(document).set(name, entry);
}

function mapOf(document: Document): YAMLMap {
  const node = document.get('providers');
  if (isMap(node)) return asBlock(node);
  document.set('providers', document.createNode({}));
  return asBlock(document.get('providers') as YAMLMap);
}

function sequenceOf(document: Document): YAMLSeq {
  const node = document.get('models');
  if (isSeq(node)) return asBlock(node);
  document.set('models', document.createNode([]));
  return asBlock(document.get('models') as YAMLSeq);
}

/** A list that grows long is read line by line. */
function asBlock<T extends YAMLMap | YAMLSeq>(node: T): T {
  if (node.items.length === 0) node.flow = false;
  return node;
}
