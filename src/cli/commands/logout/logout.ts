import type { Context } from '../../context.ts';
import { confirm } from '../../outputs/present.ts';
import { chosenProfile } from '../../settings/config/address.ts';

/** Forgets the key of a profile; the profile itself stays. */
export async function logout(ctx: Context): Promise<void> {
  const profile = chosenProfile(ctx)?.value ?? null;
  const forgotten = profile !== null && (await ctx.settings.credentials.forget(profile));
  await confirm(ctx, { profile, forgotten }, whatHappened(profile, forgotten));
  if (ctx.env['PROMPTRUN_API_KEY']) ctx.io.note('PROMPTRUN_API_KEY is still set.');
}

function whatHappened(profile: string | null, forgotten: boolean): string {
  if (profile === null) return 'No profile is active; there is no key to forget.';
  return forgotten ? `The key of profile ${profile} is forgotten.` : `Profile ${profile} has no key stored.`;
}
