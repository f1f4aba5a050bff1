import { type CliError, usageError } from '../../errors.ts';
import { nearest } from '../../inputs/nearest.ts';

/** There is no such profile: names the nearest one, and all of them. */
export function unknownProfile(name: string, profiles: readonly string[]): CliError {
  const like = nearest(name, profiles);
  return usageError(
    `there is no profile '${name}'`,
    ...(like === undefined ? [] : [`Did you mean ${like}?`]),
    profiles.length === 0
      ? 'promptrun profile add <name> --base-url <url> adds one.'
      : `Profiles: ${profiles.join(', ')}`,
  );
}
