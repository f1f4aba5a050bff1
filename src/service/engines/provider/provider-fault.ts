/** Something a provider did that makes the run fail. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';

  constructor(
    /** What it did, as a sentence that begins after its name: `answered 500 …`. */
    readonly what: string,
    readonly more: {
      /** What the user can do next. */
      readonly advice?: string | undefined;
      /** The HTTP status it answered with. */
      readonly status?: number;
      /** How long it wants to be left alone, in milliseconds; undefined where it did not say. */
      readonly retryAfterMs?: number | undefined;
      /** Whether asking again can't help: the account's quota is used up. */
      readonly quotaUsedUp?: boolean;
      /** Whether an answer was begun: then it may have been paid for. */
      readonly mayHaveCost?: boolean;
      /** Whether nothing of it can have been paid for: it was refused, or never arrived. */
      readonly isRefused?: boolean;
    } = {},
  ) {
    super(what);
  }
}
