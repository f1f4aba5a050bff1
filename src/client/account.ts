import type { Account, CreditBalance } from '../wire/index.ts';
import type { ReadOptions, Requester } from './request.ts';
import { payload } from './shape.ts';

/** Who the key belongs to. */
export class AccountApi {
  readonly #service: Requester;

  constructor(service: Requester) {
    this.#service = service;
  }

  /** The account. */
  async get(options: ReadOptions = {}): Promise<Account> {
    return payload(await this.#service.request<Account>('GET', '/me', options), 'account', () => undefined);
  }

  /** What is left to spend. */
  async credits(options: ReadOptions = {}): Promise<CreditBalance> {
    const answer = await this.#service.request<CreditBalance>('GET', '/me/credits', options);
    return payload(answer, 'credit balance', data =>
      typeof data.credits === 'number' ? undefined : 'credits is not a number',
    );
  }
}
