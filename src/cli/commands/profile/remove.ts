import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/present.ts';
import { unknownProfile } from './unknown-profile.ts';

const EXAMPLES = `
Examples:
  promptrun profile remove work`;

export function declareProfileRemove(command: Command, host: Host, run = profileRemove): void {
  command
    .argument('<name>', 'the profile')
    .addHelpText('after', EXAMPLES)
    .action((name: string) => host.runAction(command, ctx => run(ctx, name)));
}

/** Forgets a profile and its key; if it was the active one, none is afterwards. */
export async function profileRemove(ctx: Context, name: string): Promise<ExitCode> {
  const { config, credentials, profiles } = ctx.settings;
  if (profiles.get(name) === undefined)
    throw unknownProfile(
      name,
      profiles.entries().map(([known]) => known),
    );
  // The key goes first: a profile without a key is harmless, a key without a profile would be forgotten here.
  await credentials.forget(name);
  await config.update(document => {
    delete document.profiles[name];
    if (document.activeProfile === name) delete document.activeProfile;
  });
  await confirm(ctx, { removed: name }, `Profile ${name} and its key are forgotten.`);
  return EXIT.ok;
}
