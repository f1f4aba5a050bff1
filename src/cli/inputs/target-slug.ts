import { MAX_QUERY_LENGTH } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { type CliError, notFoundError, usageError } from '../errors.ts';
import { didYouMean } from './nearest.ts';

/** The latest version of the prompt whose slug is exactly this. @throws {CliError} exit 4 where there is none */
export async function findSlug(connection: Connection, slug: string, signal: AbortSignal): Promise<string> {
  const words = slug.trim();
  if (words.length > MAX_QUERY_LENGTH) throw noSuchPrompt(slug, []);
  const { rows } = await connection.client.prompts.search(words, { signal });
  const versions = new Set(rows.filter(row => row.slug === words).map(row => row.promptVersionId));
  const [version] = versions;
  if (version === undefined) {
    throw noSuchPrompt(
      slug,
      rows.map(row => row.slug),
    );
  }
  if (versions.size > 1) {
    throw usageError(`several prompts are called ${slug}`, `Give the id of one: ${[...versions].join(', ')}`);
  }
  return version;
}

function noSuchPrompt(slug: string, found: readonly string[]): CliError {
  const file = slug.endsWith('.prompt') ? ', and no such file' : '';
  return notFoundError(
    `there is no prompt ${JSON.stringify(slug)}${file}${didYouMean(slug, found)}`,
    'Find prompts with: promptrun prompts search <words>',
  );
}
