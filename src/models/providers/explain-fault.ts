import { sortByNearness } from '../../utils/nearest-name.ts';
import { shorten } from '../../utils/shorten.ts';
import type { EngineFault, EngineJob } from '../engine.ts';
import type { ModelEntry } from '../model-entry.ts';
import { type ProviderFault, unwrapProviderFault } from './answers/provider-fault.ts';
import { describeBaseUrl, listModels } from './list-models.ts';
import { maskKeys } from './mask-keys.ts';
import { createNetworkFault } from './network-fault.ts';
import type { ProviderAccess } from './provider-access.ts';
import { findKeyVariable } from './providers.ts';

/** Maximum length of a provider's own message. */
const MAX_FAULT_LENGTH = 600;

/** Maximum number of models to suggest in place of an unknown one. */
const MAX_SUGGESTED_MODELS = 5;

/** A message about a fault, and the consequences of the fault for the run. */
interface FaultExplanation {
  /** One line: who did what, and what to do next, without keys. */
  readonly message: string;
  /** The message without advice for the operator of the service. */
  readonly publicMessage: string;
  /** True if the run cost nothing. */
  readonly isRefused: boolean;
  readonly isUnanswered: boolean;
  readonly status: number | undefined;
  readonly fault: EngineFault | undefined;
}

/**
 * Explains why a run or a request failed at a provider.
 *
 * @param resource the part of the provider's interface that was asked for, which a 403 denies
 */
export async function explainFault(
  thrown: unknown,
  {
    model,
    signal,
    resource = 'this model',
  }: Pick<EngineJob, 'model' | 'signal'> & { readonly resource?: string },
  access: ProviderAccess,
): Promise<FaultExplanation> {
  const providerFault = unwrapProviderFault(thrown) ?? createNetworkFault(thrown, access.provider);
  const {
    isRefused = false,
    isUnanswered = false,
    isTemporary,
    status,
    fault,
  } = providerFault.details;

  const description = describeFault(providerFault, access);
  const advice = findOperatorAdvice(providerFault, access, resource);
  const suggestion = isUnknownModel(providerFault)
    ? await suggestModels(model, access, signal)
    : undefined;
  const message = withAdvice(
    description,
    [advice, suggestion].filter(text => text !== undefined).join('; '),
  );

  // Only the operator can act on the other advice, and may see what a provider says about the key.
  const callerMessage = isTemporary ? message : description;
  const publicMessage =
    fault === 'unauthorised' ? `${access.provider.name} denies this service access` : callerMessage;

  return { message, publicMessage, isRefused, isUnanswered, status, fault };
}

/**
 * Returns a sentence with the provider's name, such as `openai answered 500 …`, in which keys are
 * masked.
 */
function describeFault(
  { message, details }: ProviderFault,
  { provider, key }: ProviderAccess,
): string {
  const line = maskKeys(message, key ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  const predicate = shorten(line, MAX_FAULT_LENGTH);
  const space = predicate.startsWith("'") ? '' : ' ';
  const cost = details.mayHaveCost ? '; it may have been paid for' : '';
  return `${provider.name}${space}${predicate}${cost}`;
}

/** Adds advice to a description, which may end with a sentence of the provider's own. */
function withAdvice(description: string, advice: string): string {
  if (advice === '') return description;
  if (!description.endsWith('.')) return `${description}: ${advice}`;
  return `${description} ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`;
}

function findOperatorAdvice(
  { details: { fault, status, advice } }: ProviderFault,
  { provider, env }: ProviderAccess,
  resource: string,
): string | undefined {
  const { addressName = 'its baseUrl' } = provider;
  if (fault !== 'unauthorised' || status === 402) {
    return typeof advice === 'function' ? advice(addressName, describeBaseUrl(provider)) : advice;
  }

  const { keyVariables } = provider;
  const variable = findKeyVariable(provider, env);
  if (variable !== undefined) {
    return status === 403
      ? `the key in ${variable} may not use ${resource}: check what its account allows`
      : `it refuses the key in ${variable}`;
  }

  const remedy =
    keyVariables.length > 0
      ? `set ${keyVariables.join(' or ')}`
      : 'give the provider an apiKeyEnv in models.yaml';
  return `it requires a key: ${remedy}`;
}

/**
 * Returns true if the provider seems not to have the model: after a 404, or a 400 whose message says
 * so.
 */
function isUnknownModel({ message, details: { status, param = 'model' } }: ProviderFault): boolean {
  if (status === 404) return true;
  if (status !== 400 || param !== 'model') return false;
  // Such as "The model gpt-9 does not exist" or "Invalid model: gpt-9".
  return /\bmodel\b/i.test(message) && /\b(?:not|unknown|invalid|exist)/i.test(message);
}

/** Lists the provider's models, the nearest names first; undefined if it does not list any. */
async function suggestModels(
  { model, id = model }: ModelEntry,
  { provider, env }: ProviderAccess,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { models } = await listModels(provider, env, signal);
    const names = models.map(offeredModel => offeredModel.id);
    if (names.length === 0) return undefined;

    const shownNames = sortByNearness(id, names).slice(0, MAX_SUGGESTED_MODELS).join(', ');
    const unlistedCount = names.length - MAX_SUGGESTED_MODELS;
    return unlistedCount > 0
      ? `it has ${shownNames} and ${unlistedCount} more`
      : `it has ${shownNames}`;
  } catch {
    return undefined;
  }
}
