import type { NewKeyOptions } from '../../../service/keys/keys.ts';
import type { KeyView } from '../../../service/local-store.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { formatIsoAge } from '../../core/durations.ts';
import { notFoundError, usageError } from '../../core/errors.ts';
import type { DatabaseFlags } from '../../core/shared-flags.ts';
import { present, presentList, reportOutcome } from '../../outputs/present.ts';
import { formatOperatorCommand, withOperatorStore } from '../../targets/operator-store.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import type { KEYS_CREATE } from './spec.ts';

type KeysCreateFlags = FlagsOf<typeof KEYS_CREATE.flags>;

/** Creates a key of the local service and prints it once. */
export async function addKey(ctx: Context, flags: KeysCreateFlags): Promise<void> {
  const options = readKeyOptions(flags);
  await withOperatorStore(ctx, 'keys create', flags, async store => {
    const { isNewUser, ...createdKey } = await store.createKey(options);
    await present(ctx, createdKey, { plain: () => createdKey.key });
    ctx.io.note(`Key ${createdKey.id} of user ${createdKey.user}; it is not shown again.`);

    const changesUser = options.plan !== undefined || options.credits !== undefined;
    if (isNewUser || !changesUser) return;

    const command = formatOperatorCommand(ctx, flags, 'users', 'set', createdKey.user);
    ctx.io.note(
      `note: the user ${createdKey.user} already exists and is unchanged; to change it: ${command}`,
    );
  });
}

function readKeyOptions({ user, plan, credits, author }: KeysCreateFlags): NewKeyOptions {
  if (user !== undefined && !/^[\w.@-]{1,64}$/.test(user)) {
    throw usageError(
      `--user: '${user}' is not a user name`,
      'A user name has up to 64 letters, digits, dots, dashes, @ and underscores.',
    );
  }
  if (credits !== undefined && !/^\d{1,12}$/.test(credits)) {
    throw usageError('--credits is a whole number from 0');
  }
  return {
    user,
    plan,
    credits: credits === undefined ? undefined : Number(credits),
    isAuthor: author,
  };
}

/**
 * Lists the keys of the local service with their users and times of use, never the keys themselves.
 */
export async function printKeys(ctx: Context, flags: DatabaseFlags): Promise<void> {
  const formatKeyAge = (time: string | null): string =>
    time === null ? 'never' : formatIsoAge(time, ctx.clock.now());
  await withOperatorStore(ctx, 'keys list', flags, async store => {
    await presentList(ctx, await store.listKeys(), {
      columns: [
        { title: 'ID', minWidth: 8, cell: ({ id }) => id },
        { title: 'USER', minWidth: 6, cell: ({ user }) => user },
        { title: 'PLAN', cell: ({ plan }) => plan },
        { title: 'CREDITS', align: 'right', cell: ({ credits }) => String(credits) },
        {
          title: 'CREATED',
          dropOrder: 1,
          cell: key => formatKeyAge(key.createdAt),
          plain: key => key.createdAt,
        },
        {
          title: 'LAST USED',
          dropOrder: 2,
          cell: ({ lastUsedAt }) => formatKeyAge(lastUsedAt),
          plain: ({ lastUsedAt }) => lastUsedAt ?? '',
        },
        { title: 'AUTHOR', dropOrder: 3, cell: ({ author }) => (author ? 'yes' : ''), plain: null },
      ],
      emptyText: 'no keys',
    });
  });
}

/** Revokes a key of the local service. @param name its id, or the beginning of its id */
export async function revokeKey(ctx: Context, name: string, flags: DatabaseFlags): Promise<void> {
  await withOperatorStore(ctx, 'keys revoke', flags, async store => {
    const listHint = `List the keys with: ${formatOperatorCommand(ctx, flags, 'keys', 'list')}`;
    const id = requireKeyId(await store.listKeys(), name, listHint);
    if (!(await store.revokeKey(id))) throw unknownKeyError(name, listHint);
    await reportOutcome(ctx, { revoked: id }, `Key ${id} is revoked.`);
  });
}

function requireKeyId(keys: readonly KeyView[], name: string, listHint: string): string {
  if (name === '') throw usageError('the id of the key is empty', listHint);

  const matchingKeys = keys.filter(({ id }) => id.startsWith(name.toLowerCase()));
  const [firstKey] = matchingKeys;
  if (firstKey === undefined) throw unknownKeyError(name, listHint);
  if (matchingKeys.length === 1) return firstKey.id;

  throw usageError(
    `several keys begin with ${name}`,
    `Give more of the id: ${matchingKeys.map(({ id }) => id).join(', ')}`,
  );
}

function unknownKeyError(name: string, listHint: string): Error {
  return notFoundError(`the key '${toOneLine(name)}' does not exist`, listHint);
}
