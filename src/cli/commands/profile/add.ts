import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/present.ts';
import { checkedBaseUrl } from '../../settings/config/address.ts';
import { checkedName, LOCAL_PROFILE } from '../../settings/config/names.ts';

const EXAMPLES = `
Examples:
  promptrun profile add work --base-url https://prompts.example.com/v1
  promptrun login --profile work`;

export function declareProfileAdd(command: Command, host: Host, run = profileAdd): void {
  command
    .argument('<name>', 'what to call it')
    .addHelpText('after', EXAMPLES)
    .action((name: string) => host.runAction(command, ctx => run(ctx, name)));
}

/** Adds a profile, or changes where one leads. The first one becomes the active one. */
export async function profileAdd(ctx: Context, name: string): Promise<ExitCode> {
  if (checkedName(name, 'profile') === LOCAL_PROFILE) throw usageError('local is the profile built in');
  const given = ctx.globals.baseUrl;
  if (given === undefined) throw usageError('profile add needs --base-url <url>');
  const baseUrl = checkedBaseUrl(given, '--base-url', ctx.globals.insecureHttp);
  const active = await ctx.settings.config.update(document => {
    document.profiles[name] = { ...document.profiles[name], baseUrl };
    document.activeProfile ??= name;
    return document.activeProfile === name;
  });
  await confirm(
    ctx,
    { name, baseUrl, active },
    `Profile ${name} leads to ${baseUrl}${active ? ' and is active' : ''}.`,
  );
  if (!hasKeyFor(ctx, name, baseUrl)) ctx.io.note(`promptrun login --profile ${name} stores its key.`);
  return EXIT.ok;
}

function hasKeyFor({ settings }: Context, name: string, baseUrl: string): boolean {
  return settings.credentials.find(name)?.origin === new URL(baseUrl).origin;
}
