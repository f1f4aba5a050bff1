import { PaymentRequiredError } from '../../../client/errors.ts';
import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { presentFacts } from '../../outputs/present.ts';
import { withSpinner } from '../../terminal/spinner.ts';

export async function printAccount(ctx: Context): Promise<void> {
  const { client } = await ctx.connection();
  const options = { signal: ctx.signal };
  const [owner, balance] = await withSpinner(
    ctx,
    'asking for the account',
    Promise.all([client.account.get(options), client.account.credits(options)]),
  ).catch((error: unknown) => {
    throw error instanceof PaymentRequiredError ? withoutPlan(error) : error;
  });
  const value = { ...owner, ...balance };
  const name = toTextOrEmpty(owner.username) || undefined;
  const user = toTextOrEmpty(owner.displayName ?? owner.username);
  await presentFacts(ctx, value, [
    ['User', user || 'without a name'],
    ['Name', name === user ? undefined : name],
    ['Credits', toTextOrEmpty(balance.credits)],
  ]);
}

function withoutPlan({ message, status, data }: PaymentRequiredError): Error {
  const hints = ['The service refuses a key without a plan: renew the plan, or use another key.'];
  return new CliError(message, { status, exitCode: EXIT.unauthorised, hints, data });
}
