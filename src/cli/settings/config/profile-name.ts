import { usageError } from '../../core/errors.ts';

/** The built-in profile: the embedded service. */
export const LOCAL_PROFILE = 'local';

const VALID_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Returns the name of a profile or an alias if it is valid.
 *
 * @throws {CliError} USAGE_ERROR if it is not
 */
export function requireValidName(name: string, noun: 'profile' | 'alias'): string {
  if (VALID_NAME.test(name)) return name;
  throw usageError(
    `'${name}' can't be the name of ${noun === 'alias' ? 'an alias' : 'a profile'}`,
    'Names are up to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit.',
  );
}
