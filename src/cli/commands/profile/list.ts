import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { LOCAL_PROFILE } from '../../settings/config/names.ts';
import { type Column, plainRows, terminalTable } from '../../terminal/table.ts';

const EXAMPLES = `
Examples:
  promptrun profile list
  promptrun profile list --query '[?active].name | [0]'

Piped, a line is: name, base URL, where the key is kept (file, keychain or none), active or nothing.`;

const COLUMNS: readonly Column[] = [
  { title: 'NAME', min: 8 },
  { title: 'BASE URL', min: 16 },
  { title: 'KEY' },
  { title: 'ACTIVE' },
];

interface ProfileRow {
  readonly name: string;
  /** null for the service built in. */
  readonly baseUrl: string | null;
  /** Where its key is kept; null if it has none. */
  readonly key: 'file' | 'keychain' | null;
  readonly active: boolean;
}

export function declareProfileList(command: Command, host: Host, run = profileList): void {
  command.addHelpText('after', EXAMPLES).action(() => host.runAction(command, ctx => run(ctx)));
}

/** Lists the profiles, never their keys. */
export async function profileList(ctx: Context): Promise<ExitCode> {
  const rows = profileRows(ctx);
  const cells = rows.map(({ name, baseUrl, key, active }) => [
    name,
    baseUrl ?? 'built in',
    key ?? 'none',
    active ? 'active' : '',
  ]);
  await present(ctx, rows, {
    terminal: () => (rows.length === 0 ? 'no profiles\n' : terminalTable(ctx.io, COLUMNS, cells)),
    plain: () => plainRows(cells),
  });
  return EXIT.ok;
}

function profileRows({ settings }: Context): ProfileRow[] {
  const { activeProfile } = settings.config.read();
  const rows = settings.profiles.entries().map(([name, { baseUrl }]): ProfileRow => {
    const credential = settings.credentials.find(name);
    const key = credential === undefined ? null : credential.keychain ? 'keychain' : 'file';
    return { name, baseUrl, key, active: name === activeProfile };
  });
  if (activeProfile !== LOCAL_PROFILE) return rows;
  return [...rows, { name: LOCAL_PROFILE, baseUrl: null, key: null, active: true }];
}
