import type { Account, CreditBalance } from '../wire/index.ts';
import type { Requester, RequestOptions } from './request.ts';
import { payload } from './shape.ts';

type Options = Pick<RequestOptions, 'signal' | 'timeoutMs' | 'retries'>;

/** Who the key belongs to (service-facts, account and credit balance). */
export class AccountApi {
  readonly #service: Requester;

  constructor(service: Requester) {
    this.#service = service;
  }

  /** The account. */
  async get(options: Options = {}): Promise<Account> {
    return payload(await this.#service.request<Account>('GET', '/me', options), 'account', () => undefined);
  }

  /** What is left to spend. */
  async credits(options: Options = {}): Promise<CreditBalance> {
    const answer = await this.#service.request<CreditBalance>('GET', '/me/credits', options);
    return payload(answer, 'credit balance', data =>
      typeof data.credits === 'number' ? undefined : 'credits is no number',
    );
  }
}
