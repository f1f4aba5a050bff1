import { PaymentRequiredError } from '../../../client/errors.ts';
import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { presentFacts } from '../../outputs/present.ts';
import { withSpinner } from '../../terminal/spinner.ts';

/** Prints the owner of the key and the credits that are left. */
export async function printAccount(ctx: Context): Promise<void> {
  const { client } = await ctx.connection();
  const requestOptions = { signal: ctx.signal };
  const [owner, balance] = await withSpinner(
    ctx,
    'asking for the account',
    Promise.all([client.account.get(requestOptions), client.account.credits(requestOptions)]),
  ).catch((error: unknown) => {
    throw error instanceof PaymentRequiredError ? noPlanError(error) : error;
  });
  const value = { ...owner, ...balance };
  const userName = toTextOrEmpty(owner.username) || undefined;
  const shownName = toTextOrEmpty(owner.displayName ?? owner.username);
  await presentFacts(ctx, value, [
    ['User', shownName || 'without a name'],
    ['Name', userName === shownName ? undefined : userName],
    ['Credits', toTextOrEmpty(balance.credits)],
  ]);
}

function noPlanError({ message, status, data }: PaymentRequiredError): Error {
  const hints = ['The service refuses a key without a plan: renew the plan, or use another key.'];
  return new CliError(message, { status, exitCode: EXIT.unauthorised, hints, data });
}
