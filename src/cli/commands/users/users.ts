import type { UserChanges, UserSummary } from '../../../service/store/accounts-store.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { notFoundError, usageError } from '../../core/errors.ts';
import { pluralize } from '../../core/pluralize.ts';
import type { DatabaseFlags } from '../../core/shared-flags.ts';
import { type ListForm, presentList, reportOutcome } from '../../outputs/present.ts';
import { formatOperatorCommand, withOperatorStore } from '../../targets/operator-store.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import type { USERS_SET } from './spec.ts';

const USERS_FORM: ListForm<UserSummary> = {
  columns: [
    { title: 'USER', minWidth: 6, cell: ({ user }) => user },
    { title: 'PLAN', cell: ({ plan }) => plan },
    { title: 'CREDITS', align: 'right', cell: ({ credits }) => String(credits) },
    { title: 'KEYS', align: 'right', cell: ({ keys }) => String(keys) },
  ],
};

export async function printUsers(ctx: Context, flags: DatabaseFlags): Promise<void> {
  await withOperatorStore(ctx, 'users list', flags, async store => {
    await presentList(ctx, await store.listUsers(), USERS_FORM);
  });
}

export async function printUser(ctx: Context, name: string, flags: DatabaseFlags): Promise<void> {
  await withOperatorStore(ctx, 'users show', flags, async store => {
    const [user] = await store.listUsers(name);
    if (user === undefined) throw unknownUserError(ctx, flags, name);
    await presentList(ctx, [user], USERS_FORM, user);
  });
}

type UsersSetFlags = FlagsOf<typeof USERS_SET.flags>;

/** Changes the credits or the plan of a user of the local service. */
export async function setUser(ctx: Context, name: string, flags: UsersSetFlags): Promise<void> {
  const changes = readUserChanges(flags);
  await withOperatorStore(ctx, 'users set', flags, async store => {
    const user = await store.changeUser(name, changes);
    if (user === undefined) throw unknownUserError(ctx, flags, name);
    await reportOutcome(
      ctx,
      user,
      toOneLine(`User ${user.user}: plan ${user.plan}, ${pluralize(user.credits, 'credit')}.`),
    );
  });
}

function readUserChanges({ credits, plan }: UsersSetFlags): UserChanges {
  if (credits === undefined && plan === undefined) {
    throw usageError('nothing to set', 'Give --credits or --plan.');
  }

  if (credits !== undefined && !/^[+-]?\d{1,12}$/.test(credits)) {
    throw usageError('--credits is a whole number, or +n or -n');
  }

  if (credits === undefined) return { plan };

  const amount = Number(credits);
  return { plan, credits: /^[+-]/.test(credits) ? { by: amount } : { to: amount } };
}

function unknownUserError(ctx: Context, flags: DatabaseFlags, name: string): Error {
  return notFoundError(
    `the user '${toOneLine(name)}' does not exist`,
    `List the users with: ${formatOperatorCommand(ctx, flags, 'users', 'list')}`,
  );
}
