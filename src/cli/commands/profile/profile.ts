import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../core/errors.ts';
import { explainUnknownName } from '../../core/unknown-name.ts';
import { presentList, reportOutcome } from '../../outputs/present.ts';
import { requireSecureBaseUrl } from '../../settings/config/address.ts';
import { LOCAL_PROFILE, requireValidName } from '../../settings/config/profile-name.ts';

interface ProfileRow {
  readonly name: string;
  /** The base URL; null for the embedded service. */
  readonly baseUrl: string | null;
  /** The place of its key; null if it has none. */
  readonly key: 'file' | 'keychain' | null;
  readonly active: boolean;
}

/** Lists the profiles, without their keys. */
export async function printProfiles(ctx: Context): Promise<void> {
  await presentList(ctx, listProfileRows(ctx), {
    columns: [
      { title: 'NAME', minWidth: 8, cell: ({ name }) => name },
      { title: 'BASE URL', minWidth: 16, cell: ({ baseUrl }) => baseUrl ?? 'built in' },
      { title: 'KEY', cell: ({ key }) => key ?? 'none' },
      { title: 'ACTIVE', cell: ({ active }) => (active ? 'active' : '') },
    ],
    emptyText: 'no profiles',
  });
}

function listProfileRows({ settings }: Context): ProfileRow[] {
  const { activeProfile } = settings;
  const rows = [...settings.profiles].map(([name, { baseUrl }]): ProfileRow => {
    const credential = settings.credentials.find(name);
    const keyPlace = credential?.keychain ? 'keychain' : 'file';
    return { name, baseUrl, key: credential ? keyPlace : null, active: name === activeProfile };
  });
  if (activeProfile !== LOCAL_PROFILE) return rows;
  return [...rows, { name: LOCAL_PROFILE, baseUrl: null, key: null, active: true }];
}

/** Adds a profile, or changes its base URL. The first profile becomes the active one. */
export async function addProfile(ctx: Context, name: string): Promise<void> {
  if (requireValidName(name, 'profile') === LOCAL_PROFILE) {
    throw usageError('local is the built-in profile');
  }

  const baseUrlFlag = ctx.globals.baseUrl;
  if (baseUrlFlag === undefined) {
    const example = `promptrun profile add ${name} --base-url https://prompts.example.com/api/v1`;
    throw usageError('profile add needs --base-url <url>', `For example: ${example}`);
  }

  const baseUrl = requireSecureBaseUrl(baseUrlFlag, '--base-url', ctx.globals);
  const isActive = await ctx.settings.update(document => {
    document.profiles[name] = { ...document.profiles[name], baseUrl };
    document.activeProfile ??= name;
    return document.activeProfile === name;
  });

  const message = `Profile ${name} points to ${baseUrl}${isActive ? ' and is active' : ''}.`;
  await reportOutcome(ctx, { name, baseUrl, active: isActive }, message);

  if (!hasKeyFor(ctx, name, baseUrl)) {
    ctx.io.note(`promptrun login --profile ${name} stores its key.`);
  }
}

function hasKeyFor({ settings }: Context, name: string, baseUrl: string): boolean {
  return settings.credentials.find(name)?.origin === new URL(baseUrl).origin;
}

/** Makes a profile the active one. */
export async function activateProfile(ctx: Context, name: string): Promise<void> {
  await ctx.settings.update(document => {
    if (name !== LOCAL_PROFILE && !Object.hasOwn(document.profiles, name)) {
      throw unknownProfileError(name, Object.keys(document.profiles));
    }
    document.activeProfile = name;
  });
  await reportOutcome(ctx, { activeProfile: name }, `Profile ${name} is active.`);
}

/** Removes a profile and its key; if it was active, no profile is active afterwards. */
export async function removeProfile(ctx: Context, name: string): Promise<void> {
  const { credentials, profiles } = ctx.settings;
  if (!profiles.has(name)) throw unknownProfileError(name, [...profiles.keys()]);

  // The key goes first: a profile without a key is harmless, but a key without a profile would stay
  // unnoticed.
  await credentials.forget(name);
  await ctx.settings.update(document => {
    delete document.profiles[name];
    if (document.activeProfile === name) delete document.activeProfile;
  });
  await reportOutcome(ctx, { removed: name }, `Removed profile ${name} and its key.`);
}

function unknownProfileError(name: string, profiles: readonly string[]): CliError {
  const hints =
    profiles.length === 0 ? ['promptrun profile add <name> --base-url <url> adds one.'] : [];
  return usageError(...explainUnknownName('profile', name, profiles), ...hints);
}
