import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/present.ts';
import { LOCAL_PROFILE } from '../../settings/config/names.ts';
import { unknownProfile } from './unknown-profile.ts';

const EXAMPLES = `
Examples:
  promptrun profile use work
  promptrun profile use local       # the service built in`;

export function declareProfileUse(command: Command, host: Host, run = profileUse): void {
  command
    .argument('<name>', 'a profile, or local')
    .addHelpText('after', EXAMPLES)
    .action((name: string) => host.runAction(command, ctx => run(ctx, name)));
}

/** Makes a profile the active one. */
export async function profileUse(ctx: Context, name: string): Promise<ExitCode> {
  await ctx.settings.config.update(document => {
    if (name !== LOCAL_PROFILE && !Object.hasOwn(document.profiles, name)) {
      throw unknownProfile(name, Object.keys(document.profiles));
    }
    document.activeProfile = name;
  });
  await confirm(ctx, { activeProfile: name }, `Profile ${name} is active.`);
  return EXIT.ok;
}
