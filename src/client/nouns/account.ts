import type { Account, CreditBalance } from '../../wire/index.ts';
import type { ReadOptions } from '../request-options.ts';
import { EndpointGroup } from './answer-data.ts';

/** Endpoints about the account that the key belongs to. */
export class AccountApi extends EndpointGroup {
  async get(options: ReadOptions = {}): Promise<Account> {
    return await this.read(['GET', '/me'], options, 'account');
  }

  /** Returns the credits that are left. */
  async credits(options: ReadOptions = {}): Promise<CreditBalance> {
    return await this.read(['GET', '/me/credits'], options, 'credit balance', data =>
      typeof data.credits === 'number' ? undefined : 'credits is not a number',
    );
  }
}
