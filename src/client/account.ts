import type { Account, CreditBalance } from '../wire/index.ts';
import type { ReadOptions } from './request.ts';
import { Endpoints } from './shape.ts';

/** Who the key belongs to. */
export class AccountApi extends Endpoints {
  /** The account. */
  async get(options: ReadOptions = {}): Promise<Account> {
    return await this.read(['GET', '/me'], options, 'account');
  }

  /** What is left to spend. */
  async credits(options: ReadOptions = {}): Promise<CreditBalance> {
    return await this.read(['GET', '/me/credits'], options, 'credit balance', data =>
      typeof data.credits === 'number' ? undefined : 'credits is not a number',
    );
  }
}
