import type { Command } from 'commander';
import type { Host } from '../../command.ts';
import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/confirm.ts';
import { askForKey } from './ask-for-key.ts';
import { type LoginTarget, loginTarget } from './login-target.ts';

export interface LoginOptions {
  /** False with `--no-keychain`: the key goes into the file. */
  readonly keychain: boolean;
}

const EXAMPLES = `
The key is asked for, or read from standard input where that is no terminal. It is checked before it is kept.

Examples:
  promptrun login --base-url https://prompts.example.com/v1
  promptrun login --profile work --base-url https://prompts.example.com/v1 < key.txt`;

export function declareLogin(command: Command, host: Host, run = login): void {
  command
    .option('--no-keychain', 'keep the key in a file, not in the system keychain')
    .addHelpText('after', EXAMPLES)
    .action((flags: LoginOptions) => host.act(command, ctx => run(ctx, flags)));
}

/** Stores an API key for a profile, once the service has accepted it. */
export async function login(ctx: Context, options: LoginOptions): Promise<ExitCode> {
  const target = loginTarget(ctx);
  ctx.settings.credentials.find(target.profile); // a damaged file is told before anything is asked
  const key = await askForKey(ctx, target.baseUrl);
  const { resources } = await ctx.connectTo({ ...target, apiKey: key });
  await resources.refresh({ signal: ctx.signal });
  await keepProfile(ctx, target);
  const useKeychain = options.keychain && ctx.settings.get('keychain') !== false;
  const { origin } = new URL(target.baseUrl);
  const keptIn = await ctx.settings.credentials.store(target.profile, origin, key, useKeychain);
  const place = keptIn === 'keychain' ? 'the system keychain' : ctx.settings.credentials.file;
  const facts = { ...target, keptIn, active: ctx.settings.config.read().activeProfile === target.profile };
  await confirm(
    ctx,
    facts,
    `Logged in to ${target.baseUrl} as profile ${target.profile}; the key is in ${place}.`,
  );
  if (!facts.active) ctx.io.note(`promptrun profile use ${target.profile} makes it the active one.`);
  if (ctx.env['PROMPTRUN_API_KEY']) ctx.io.note('PROMPTRUN_API_KEY is set and wins over the stored key.');
  return EXIT.ok;
}

async function keepProfile(ctx: Context, { profile, baseUrl }: LoginTarget): Promise<void> {
  await ctx.settings.config.update(document => {
    document.profiles[profile] = { ...document.profiles[profile], baseUrl };
    document.activeProfile ??= profile;
  });
}
