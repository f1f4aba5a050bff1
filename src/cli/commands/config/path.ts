import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { presentList } from '../../outputs/present.ts';
import { keptPlaces } from '../../settings/places.ts';
import type { Column } from '../../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'NAME' },
  { title: 'PATH' },
  { title: '' },
  { title: 'WHAT IS KEPT THERE', min: 16, dropOrder: 1 },
];

/** Shows every place where something is kept, whether or not there is anything yet. */
export async function configPath(ctx: Context): Promise<void> {
  const rows = keptPlaces(ctx).map(place => ({ ...place, exists: existsSync(place.path) }));
  await presentList(ctx, rows, {
    columns: COLUMNS,
    cells: ({ name, path, holds }) => [name, path, holds],
    shown: ({ name, path, exists, holds }) => [name, path, exists ? '' : 'nothing yet', holds],
  });
}
