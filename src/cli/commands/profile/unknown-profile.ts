import { didYouMeanHint } from '../../core/nearest.ts';
import { type CliError, usageError } from '../../errors.ts';

/** There is no such profile: names the nearest one, and all of them. */
export function unknownProfile(name: string, profiles: readonly string[]): CliError {
  return usageError(
    `there is no profile '${name}'`,
    ...didYouMeanHint(name, profiles),
    profiles.length === 0
      ? 'promptrun profile add <name> --base-url <url> adds one.'
      : `Profiles: ${profiles.join(', ')}`,
  );
}
