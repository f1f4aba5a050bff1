import type { EngineFault } from '../../engine.ts';

/**
 * Advice on what to do next. A function takes the name of the provider's address, and the name with
 * its usual ending.
 */
export type FaultAdvice = string | ((address: string, addressWithEnding: string) => string);

/** A fault of a provider that makes the run fail. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';

  constructor(
    /** The fault as a sentence without the provider's name: `answered 500 …`. */
    message: string,
    readonly details: {
      readonly advice?: FaultAdvice | undefined;
      /** True if the fault may be temporary, so that any caller can act on the advice. */
      readonly isTemporary?: boolean;
      readonly status?: number;
      /** Time to wait before a retry, in milliseconds; undefined if the provider did not say. */
      readonly retryAfterMs?: number | undefined;
      /** True if the account's quota is used up, so that a retry can't help. */
      readonly isQuotaUsedUp?: boolean;
      /** True if the provider says that it did nothing because it is overloaded. */
      readonly isOverloaded?: boolean;
      /** True if the provider's error code says that the resource has expired. */
      readonly hasExpired?: boolean;
      /** The parameter that the provider complains about. */
      readonly param?: string | undefined;
      /** The reason that no model answered, if it has its own exit code or hint. */
      readonly fault?: EngineFault | undefined;
      /** True if the request was sent and nothing came back. */
      readonly isUnanswered?: boolean;
      /** True if an answer was begun, which may have been paid for. */
      readonly mayHaveCost?: boolean;
      /** True if the run can't have cost anything: the request was refused, or never arrived. */
      readonly isRefused?: boolean;
    } = {},
  ) {
    super(message);
  }
}

/**
 * Returns the provider fault in a thrown value, however often it is wrapped; undefined if there is
 * none.
 */
export function unwrapProviderFault(thrown: unknown): ProviderFault | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof ProviderFault) return error;
  }
  return undefined;
}

/** Returns the provider's HTTP status in a thrown value. */
export function findProviderStatus(thrown: unknown): number | undefined {
  return unwrapProviderFault(thrown)?.details.status;
}
