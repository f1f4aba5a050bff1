import { NotFoundError, UnauthorizedError } from '../../../client/errors.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { toFailure } from '../../core/failure.ts';
import { readStandardInput } from '../../inputs/read-text.ts';
import { reportOutcome } from '../../outputs/present.ts';
import {
  findChosenProfile,
  findExplicitBaseUrl,
  requireSecureBaseUrl,
  requireSendableKey,
} from '../../settings/config/address.ts';
import { LOCAL_PROFILE, requireValidName } from '../../settings/config/profile-name.ts';
import { withStdinFrom } from '../../terminal/command-line.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { detectShell } from '../../terminal/shell-words.ts';
import type { LOGIN } from './spec.ts';

type LoginFlags = FlagsOf<typeof LOGIN.flags>;

/** Stores an API key for a profile, after the service has accepted it. */
export async function login(ctx: Context, flags: LoginFlags): Promise<void> {
  const target = await resolveLoginTarget(ctx);
  // Throws if the file is damaged, before any question is asked.
  ctx.settings.credentials.find(target.profile);
  const key = await askForAcceptedKey(ctx, target);
  await saveProfile(ctx, target);

  const allowsKeychain = flags.keychain && ctx.settings.get('keychain') !== false;
  const { profile, baseUrl } = target;
  const { origin } = new URL(baseUrl);
  const keptIn = await ctx.settings.credentials.store({ profile, origin, key, allowsKeychain });
  const keyLocation = keptIn === 'keychain' ? 'the system keychain' : ctx.settings.credentials.file;

  const isActive = ctx.settings.activeProfile === profile;
  await reportOutcome(
    ctx,
    { ...target, keptIn, active: isActive },
    `Logged in to ${baseUrl} as profile ${profile}; the key is in ${keyLocation}.`,
  );

  if (!isActive) ctx.io.note(`promptrun profile use ${profile} makes it the active one.`);

  if (ctx.env['PROMPTRUN_API_KEY']) {
    ctx.io.note('PROMPTRUN_API_KEY is set and wins over the stored key.');
  }
}

/** Returns a key that the service has accepted. If it refuses a typed key, asks for another. */
async function askForAcceptedKey(ctx: Context, target: LoginTarget): Promise<string> {
  for (;;) {
    const apiKey = await askForKey(ctx, target.baseUrl);
    const { resources } = await ctx.connectTo({ ...target, apiKey });
    try {
      await resources.refresh({ signal: ctx.signal });
      return apiKey;
    } catch (error) {
      if (error instanceof NotFoundError) throw wrongBaseUrlError(error, target);
      if (!(error instanceof UnauthorizedError)) throw error;
      if (!canAsk(ctx)) throw refusedKeyError(error);

      ctx.io.error(`The service refused this key: ${toOneLine(error.message)}`);
    }
  }
}

function wrongBaseUrlError(error: NotFoundError, { baseUrl }: LoginTarget): CliError {
  const { message, ...failure } = toFailure(error);
  const hints = [`There may be no service at ${baseUrl}: check --base-url. Nothing was stored.`];
  return new CliError(message, { ...failure, hints, cause: error });
}

/**
 * Returns the error for a key that was not typed. The profile may not exist yet, so the hint names
 * none.
 */
function refusedKeyError(error: UnauthorizedError): CliError {
  const { message, ...failure } = toFailure(error);
  const hints = ['Nothing was stored. Repeat the command with another key.'];
  return new CliError(message, { ...failure, hints, cause: error });
}

/** Returns true if a person at a terminal can be asked. */
function canAsk({ io, isInteractive }: Context): boolean {
  return io.stdin.isTerminal && isInteractive;
}

async function saveProfile(ctx: Context, { profile, baseUrl }: LoginTarget): Promise<void> {
  await ctx.settings.update(document => {
    document.profiles[profile] = { ...document.profiles[profile], baseUrl };
    document.activeProfile ??= profile;
  });
}

/** The profile of a key, and its base URL. */
interface LoginTarget {
  readonly profile: string;
  readonly baseUrl: string;
}

const DEFAULT_PROFILE = 'default';

/**
 * Resolves the profile and the base URL; on a terminal, asks for the URL if there is none.
 *
 * @throws {CliError} USAGE_ERROR if no base URL is known, or the profile is ambiguous
 */
async function resolveLoginTarget(ctx: Context): Promise<LoginTarget> {
  const explicitUrl = readExplicitBaseUrl(ctx);
  const profileName = ctx.globals.profile ?? (ctx.env['PROMPTRUN_PROFILE'] || undefined);
  const profile =
    profileName === undefined
      ? chooseProfile(ctx, explicitUrl)
      : requireValidName(profileName, 'profile');
  if (profile === LOCAL_PROFILE) {
    throw usageError(
      'the profile local is the embedded service, which needs no key',
      'Choose another --profile, or a new one: promptrun login --profile <name> --base-url <url>',
    );
  }

  const baseUrl =
    explicitUrl ?? ctx.settings.profiles.get(profile)?.baseUrl ?? (await askForBaseUrl(ctx));
  return {
    profile,
    baseUrl: requireSecureBaseUrl(baseUrl, `profile ${profile}`, ctx.globals),
  };
}

async function askForBaseUrl(ctx: Context): Promise<string> {
  if (!canAsk(ctx)) throw usageError('login needs --base-url <url>: no service is configured yet');

  const prompter = await ctx.prompter();

  const findBaseUrlFault = (answer: string): string | undefined => {
    try {
      requireSecureBaseUrl(answer, 'the address', ctx.globals);
      return undefined;
    } catch (error) {
      return getErrorMessage(error);
    }
  };

  return prompter.text(
    {
      message: 'address of the service',
      description: 'such as https://prompts.example.com/v1',
      required: true,
      lines: 'refused',
      check: findBaseUrlFault,
    },
    ctx.signal,
  );
}

function readExplicitBaseUrl(ctx: Context): string | undefined {
  const sourcedUrl = findExplicitBaseUrl(ctx);
  return sourcedUrl && requireSecureBaseUrl(sourcedUrl.value, sourcedUrl.source, ctx.globals);
}

/**
 * Returns the name of the profile for a base URL: the active profile, any other that has this base
 * URL, or a new one. Without a base URL, returns the active profile.
 */
function chooseProfile({ settings }: Context, baseUrl: string | undefined): string {
  const { activeProfile } = settings;
  if (baseUrl === undefined) return activeProfile ?? DEFAULT_PROFILE;

  const hasBaseUrl = (name: string): boolean => settings.profiles.get(name)?.baseUrl === baseUrl;
  if (activeProfile !== undefined && hasBaseUrl(activeProfile)) return activeProfile;

  const matchingProfile = [...settings.profiles.keys()].find(hasBaseUrl);
  if (matchingProfile !== undefined) return matchingProfile;

  const defaultProfile = settings.profiles.get(DEFAULT_PROFILE);
  if (defaultProfile === undefined) return DEFAULT_PROFILE;

  throw usageError(
    `the profile ${DEFAULT_PROFILE} already has the base URL ${defaultProfile.baseUrl}`,
    'Name another with --profile <name>.',
  );
}

/** Reads the key: typed without echo on a terminal, otherwise from standard input. */
async function askForKey(ctx: Context, baseUrl: string): Promise<string> {
  const loginCommand = ctx.formatCommand('login');
  if (!ctx.io.stdin.isTerminal) {
    const input = await readStandardInput(ctx);
    return requireSendableKey(input.toString().trim(), 'standard input', loginCommand);
  }

  if (!ctx.isInteractive) {
    throw usageError(
      "login can't ask for the key here",
      `Give it on standard input: ${withStdinFrom('key.txt', loginCommand, detectShell(ctx.env))}`,
    );
  }

  const prompter = await ctx.prompter();
  const typedKey = await prompter.secret(
    { message: `API key for ${new URL(baseUrl).host}` },
    ctx.signal,
  );
  return requireSendableKey(typedKey.trim(), 'the key typed');
}

/** Forgets the key of a profile, but keeps the profile. */
export async function logout(ctx: Context): Promise<void> {
  const profile = findChosenProfile(ctx)?.value ?? null;
  const wasForgotten = profile !== null && (await ctx.settings.credentials.forget(profile));
  const message = describeLogout(profile, { wasForgotten });
  await reportOutcome(ctx, { profile, forgotten: wasForgotten }, message);
  if (ctx.env['PROMPTRUN_API_KEY']) ctx.io.note('PROMPTRUN_API_KEY is still set.');
}

function describeLogout(
  profile: string | null,
  { wasForgotten }: { readonly wasForgotten: boolean },
): string {
  if (profile === null) return 'No profile is active. Nothing was removed.';
  return wasForgotten
    ? `Removed the key of profile ${profile}.`
    : `Profile ${profile} has no key stored.`;
}
