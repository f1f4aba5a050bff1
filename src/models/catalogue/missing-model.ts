import { didYouMean, findNearestName, formatSuggestion } from '../../utils/nearest-name.ts';
import { resolveProviderName } from '../providers/providers.ts';
import { MODELS_FILE, type ModelsFile } from './models-file.ts';

/** The name of a model that doesn't exist, and everything that may explain it. */
export interface MissingModel {
  readonly name: string;
  readonly modelNames: readonly string[];
  readonly providerNames: readonly string[];
  /** The providers that have a key or their own address. */
  readonly configuredProviders: readonly string[];
  /** True if models.yaml can't be read. */
  readonly isUnreadable: boolean;
  /** All models files together. */
  readonly mergedFile: ModelsFile;
  readonly namedFile: ModelsFile;
}

/** Explains that a model doesn't exist, with the names of those that do. */
export function describeMissingModel({ name, modelNames }: MissingModel): string {
  if (name.trim() === '') return 'the name of the model is empty';
  const refusal = `the model \`${name}\` does not exist`;
  return appendNames(refusal, didYouMean(name, modelNames), `models are ${modelNames.join(', ')}`);
}

/** Explains to the owner of models.yaml why a model doesn't exist, and how to add it. */
export function explainMissingModel(missingModel: MissingModel): string {
  const { name, modelNames, configuredProviders, isUnreadable, mergedFile, namedFile } =
    missingModel;
  if (name.trim() === '') return describeMissingModel(missingModel);

  const refusal = `the model \`${name}\` does not exist`;
  if (isUnreadable) {
    return `${refusal}; the models are ${modelNames.join(', ')}, and models.yaml can't be read`;
  }

  if (mergedFile.brokenNames.has(name)) {
    const file = namedFile.brokenNames.has(name) ? 'the file of --models' : MODELS_FILE;
    return `${refusal}: its entry in ${file} is invalid`;
  }

  if (name.includes('/')) return explainMissingAtProvider(missingModel, refusal);
  if (didYouMean(name, modelNames) !== '') return describeMissingModel(missingModel);

  if (/^(?:sonnet|opus|haiku)$/u.test(name)) {
    return `${refusal}: only Claude Code knows it; give a model with -m, or ${formatAliasAdvice(name)}`;
  }

  const prefixes = configuredProviders.length > 0 ? configuredProviders : ['openai', 'anthropic'];
  const prefixedNames = prefixes.map(provider => `${provider}/${name}`);

  return [
    describeMissingModel(missingModel),
    `with its provider in front, such as ${prefixedNames.join(', ')}, it needs no entry in models.yaml`,
    'promptrun models discover writes the models of your endpoints to models.yaml',
  ].join('; ');
}

function formatAliasAdvice(name: string): string {
  return `add to models.yaml: modelAliases: {${name}: <model>}`;
}

/** Explains why `<provider>/<model>` doesn't exist. */
function explainMissingAtProvider(
  { name, providerNames, mergedFile, namedFile }: MissingModel,
  refusal: string,
): string {
  const [prefix = '', ...rest] = name.split('/');
  const provider = resolveProviderName(prefix);
  if (mergedFile.brokenProviderNames.has(provider)) {
    const file = namedFile.brokenProviderNames.has(provider) ? 'the file of --models' : MODELS_FILE;
    return `${refusal}: the entry of the provider \`${prefix}\` in ${file} is invalid`;
  }

  if (rest.every(segment => segment === '') && providerNames.includes(provider)) {
    return `${refusal}: after ${prefix}/ comes the name of a model`;
  }

  const nearestProvider = findNearestName(prefix, providerNames);
  const alias = `to run it with another model, ${formatAliasAdvice(name)}`;

  return appendNames(
    `${refusal}, and neither does a provider \`${prefix}\``,
    formatSuggestion(nearestProvider && [nearestProvider, ...rest].join('/')),
    `providers are ${providerNames.join(', ')}; ${alias}`,
  );
}

/** Adds a suggestion and the names that exist to a refusal. */
function appendNames(refusal: string, suggestion: string, listing: string): string {
  return `${refusal}${suggestion === '' ? '; the' : `${suggestion} The`} ${listing}`;
}
