import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { checkedBaseUrl } from '../../settings/address.ts';
import { checkedName, LOCAL_PROFILE } from '../../settings/names.ts';

/** The profile a key is stored for, and where it leads. */
export interface LoginTarget {
  readonly profile: string;
  readonly baseUrl: string;
}

const FIRST_PROFILE = 'default';

/** @throws {CliError} USAGE_ERROR where no base URL is known, or naming the profile is left to chance */
export function loginTarget(ctx: Context): LoginTarget {
  const given = givenBaseUrl(ctx);
  const named = ctx.globals.profile ?? (ctx.env['PROMPTRUN_PROFILE'] || undefined);
  const profile = named === undefined ? unnamedProfile(ctx, given) : checkedName(named, 'profile');
  if (profile === LOCAL_PROFILE) {
    throw usageError(
      'the profile local is the service built in; it needs no key',
      'Choose another --profile.',
    );
  }
  const baseUrl = given ?? ctx.settings.profiles.get(profile)?.baseUrl;
  if (baseUrl === undefined) throw usageError('login needs --base-url <url>: no address is known yet');
  return { profile, baseUrl: checkedBaseUrl(baseUrl, `profile ${profile}`, ctx.globals.insecureHttp) };
}

function givenBaseUrl({ globals, env }: Context): string | undefined {
  if (globals.baseUrl !== undefined)
    return checkedBaseUrl(globals.baseUrl, '--base-url', globals.insecureHttp);
  const fromEnv = env['PROMPTRUN_BASE_URL'];
  if (globals.profile !== undefined || !fromEnv) return undefined;
  return checkedBaseUrl(fromEnv, 'PROMPTRUN_BASE_URL', globals.insecureHttp);
}

/** The active profile; with a base URL the profile that leads there, or a new one. Never turns one elsewhere. */
function unnamedProfile({ settings }: Context, given: string | undefined): string {
  const { activeProfile } = settings.config.read();
  if (given === undefined) return activeProfile ?? FIRST_PROFILE;
  const active = activeProfile === undefined ? undefined : settings.profiles.get(activeProfile);
  if (activeProfile !== undefined && active?.baseUrl === given) return activeProfile;
  const leadsThere = settings.profiles.entries().find(([, { baseUrl }]) => baseUrl === given);
  if (leadsThere !== undefined) return leadsThere[0];
  const taken = settings.profiles.get(FIRST_PROFILE);
  if (taken === undefined) return FIRST_PROFILE;
  throw usageError(
    `the profile ${FIRST_PROFILE} leads to ${taken.baseUrl} already`,
    'Name another with --profile <name>.',
  );
}
