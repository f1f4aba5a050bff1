import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { SETTING_KEYS, SETTINGS } from '../../settings/config/setting-keys.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'KEY' },
  { title: 'VALUE', min: 8 },
  { title: 'FROM' },
  { title: 'WHAT IT IS', min: 16, dropOrder: 1 },
];

/** Lists every setting with its value; never a key. */
export async function configList(ctx: Context): Promise<ExitCode> {
  const rows = SETTING_KEYS.map(key => {
    const set = ctx.settings.get(key);
    return { key, value: set ?? SETTINGS[key].default ?? null, isSet: set !== undefined };
  });
  const cells = rows.map(({ key, value, isSet }) => [key, String(value ?? ''), isSet ? 'set' : 'default']);
  await present(ctx, rows, {
    terminal: () =>
      terminalTable(
        ctx.io,
        COLUMNS,
        cells.map((row, index) => [...row, descriptionAt(index)]),
      ),
    plain: () => plainRows(cells),
  });
  return EXIT.ok;
}

function descriptionAt(index: number): string {
  const key = SETTING_KEYS[index];
  return key === undefined ? '' : SETTINGS[key].description;
}
