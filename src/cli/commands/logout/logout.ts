import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { confirm } from '../../outputs/present.ts';
import { chosenProfile } from '../../settings/config/address.ts';

/** Forgets the key of a profile; the profile itself stays. */
export async function logout(ctx: Context): Promise<ExitCode> {
  const profile = chosenProfile(ctx)?.value ?? null;
  const forgotten = profile !== null && (await ctx.settings.credentials.forget(profile));
  await confirm(ctx, { profile, forgotten }, whatHappened(profile, forgotten));
  if (ctx.env['PROMPTRUN_API_KEY']) ctx.io.note('PROMPTRUN_API_KEY is still set.');
  return EXIT.ok;
}

function whatHappened(profile: string | null, forgotten: boolean): string {
  if (profile === null) return 'No profile is active; there is no key to forget.';
  return forgotten ? `The key of profile ${profile} is forgotten.` : `Profile ${profile} has no key stored.`;
}
