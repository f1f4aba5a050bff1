import type { Context } from '../../context.ts';
import { presentList } from '../../outputs/present.ts';
import { SETTING_KEYS, SETTINGS } from '../../settings/config/setting-keys.ts';
import type { Column } from '../../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'KEY' },
  { title: 'VALUE', min: 8 },
  { title: 'FROM' },
  { title: 'WHAT IT IS', min: 16, dropOrder: 1 },
];

/** Lists every setting with its value; never a key. */
export async function configList(ctx: Context): Promise<void> {
  const rows = SETTING_KEYS.map(key => {
    const set = ctx.settings.get(key);
    return { key, value: set ?? SETTINGS[key].default ?? null, isSet: set !== undefined };
  });
  const cells = ({ key, value, isSet }: (typeof rows)[number]): string[] => [
    key,
    String(value ?? ''),
    isSet ? 'set' : 'default',
  ];
  const shown = (row: (typeof rows)[number]): string[] => [...cells(row), SETTINGS[row.key].description];
  await presentList(ctx, rows, { columns: COLUMNS, cells, shown });
}
