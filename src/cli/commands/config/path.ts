import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { keptPlaces } from '../../settings/places.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'NAME' },
  { title: 'PATH' },
  { title: '' },
  { title: 'WHAT IS KEPT THERE', min: 16, dropOrder: 1 },
];

/** Shows every place where something is kept, whether or not there is anything yet. */
export async function configPath(ctx: Context): Promise<ExitCode> {
  const rows = keptPlaces(ctx).map(place => ({ ...place, exists: existsSync(place.path) }));
  await present(ctx, rows, {
    terminal: () =>
      terminalTable(
        ctx.io,
        COLUMNS,
        rows.map(({ name, path, exists, holds }) => [name, path, exists ? '' : 'nothing yet', holds]),
      ),
    plain: () => plainRows(rows.map(({ name, path, holds }) => [name, path, holds])),
  });
  return EXIT.ok;
}
