import { sortByNearness } from '../../utils/nearest-name.ts';
import { shorten } from '../../utils/shortened.ts';
import type { EngineFault, EngineJob } from '../engine.ts';
import type { ModelEntry } from '../model-entry.ts';
import { type ProviderFault, unwrapProviderFault } from './answers/provider-fault.ts';
import { describeBaseUrl, listModels } from './list-models.ts';
import { maskKeys } from './mask-keys.ts';
import { providerNetworkFault } from './network-fault.ts';
import type { ProviderAccess } from './provider-access.ts';
import { findKeyVariable } from './providers.ts';

/** A fault in words, and what follows from it for the run. */
interface ExplainedFault {
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
 * @param use the use of the provider that a 403 refuses
 */
export async function explainFault(
  thrown: unknown,
  {
    model,
    signal,
    use = 'this model',
  }: Pick<EngineJob, 'model' | 'signal'> & { readonly use?: string },
  access: ProviderAccess,
): Promise<ExplainedFault> {
  const error = unwrapProviderFault(thrown) ?? providerNetworkFault(thrown, access.provider);
  const { isRefused = false, isUnanswered = false, status, fault } = error.details;
  const description = describeFault(error, access);
  const advice = findOperatorAdvice(error, access, use);
  const names = isUnknownModel(error)
    ? await describeNearestModels(model, access, signal)
    : undefined;
  const message = withAdvice(
    description,
    [advice, names].filter(text => text !== undefined).join('; '),
  );
  const ownMessage = error.details.isPassing ? message : description;

  return {
    message,
    // Only the operator may see what the provider says about the key.
    publicMessage:
      fault === 'unauthorised' ? `${access.provider.name} denies this service access` : ownMessage,
    isRefused,
    isUnanswered,
    status,
    fault,
  };
}

const MAX_FAULT_LENGTH = 600;

/**
 * Returns a sentence with the provider's name, such as `openai answered 500 …`, in which keys are
 * masked.
 */
function describeFault(
  { what, details }: ProviderFault,
  { provider, key }: ProviderAccess,
): string {
  const line = maskKeys(what, key ?? '')
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
  use: string,
): string | undefined {
  const { addressName = 'its baseUrl' } = provider;
  if (fault !== 'unauthorised' || status === 402) {
    return typeof advice === 'function' ? advice(addressName, describeBaseUrl(provider)) : advice;
  }

  const { keyVariables } = provider;
  const variable = findKeyVariable(provider, env);
  if (variable !== undefined) {
    return status === 403
      ? `the key in ${variable} may not use ${use}: check what its account allows`
      : `it refuses the key in ${variable}`;
  }

  const remedy =
    keyVariables.length > 0
      ? `set ${keyVariables.join(' or ')}`
      : 'give the provider an apiKeyEnv in models.yaml';
  return `it requires a key: ${remedy}`;
}

function isUnknownModel({ what, details: { status, param = 'model' } }: ProviderFault): boolean {
  const namesModel = param === 'model' && /\bmodel\b/i.test(what);
  return (
    status === 404 ||
    (status === 400 && namesModel && /\b(?:not|unknown|invalid|exist)/i.test(what))
  );
}

const MAX_SHOWN_DETAILS = 5;

/** Lists the provider's models, the nearest names first; undefined if it does not list any. */
async function describeNearestModels(
  { model, id = model }: ModelEntry,
  { provider, env }: ProviderAccess,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { models } = await listModels(provider, env, signal);
    const names = models.map(offered => offered.id);
    if (names.length === 0) return undefined;
    const unlistedCount = names.length - MAX_SHOWN_DETAILS;
    const shownNames = sortByNearness(id, names).slice(0, MAX_SHOWN_DETAILS);
    return `it has ${shownNames.join(', ')}${unlistedCount > 0 ? ` and ${unlistedCount} more` : ''}`;
  } catch {
    return undefined;
  }
}
