import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { explainUnknownName } from '../../core/unknown-name.ts';
import { presentList, reportOutcome } from '../../outputs/present.ts';
import { requireValidName } from '../../settings/config/profile-name.ts';

/** Lists the aliases with their targets. */
export async function printAliases(ctx: Context): Promise<void> {
  const rows = [...ctx.settings.aliases].map(([name, target]) => ({ name, target }));
  await presentList(ctx, rows, {
    columns: [
      { title: 'NAME', minWidth: 8, cell: ({ name }) => name },
      { title: 'TARGET', minWidth: 16, cell: ({ target }) => target },
    ],
    emptyText: 'no aliases',
  });
}

/** Sets a short name for a target; replaces an alias of the same name. */
export async function setAlias(ctx: Context, name: string, target: string): Promise<void> {
  requireValidName(name, 'alias');
  if (target.trim() === '') throw usageError('the target is empty');
  await ctx.settings.update(document => {
    document.aliases[name] = target;
  });
  await reportOutcome(ctx, { name, target }, `${name} stands for ${target}.`);
}

export async function removeAlias(ctx: Context, name: string): Promise<void> {
  await ctx.settings.update(document => {
    if (!Object.hasOwn(document.aliases, name)) {
      throw usageError(...explainUnknownName('alias', name, Object.keys(document.aliases)));
    }
    delete document.aliases[name];
  });
  await reportOutcome(ctx, { removed: name }, `Removed the alias ${name}.`);
}
