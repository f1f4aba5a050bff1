import { usageError } from '../../core/errors.ts';

/** The built-in profile: the embedded service. */
export const LOCAL_PROFILE = 'local';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Returns a valid name of a profile or alias. @throws {CliError} USAGE_ERROR for any other */
export function checkName(name: string, what: 'profile' | 'alias'): string {
  if (NAME.test(name)) return name;
  throw usageError(
    `'${name}' can't be the name of ${what === 'alias' ? 'an alias' : 'a profile'}`,
    'Names are up to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit.',
  );
}
