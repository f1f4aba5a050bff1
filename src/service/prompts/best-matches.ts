import { foldText } from '../../utils/word-matcher.ts';

/** The fields of a prompt that a search reads. */
interface SearchableFields {
  slug: string;
  title: string;
  description: string;
  uses: number;
  publishedAt: number;
}

const MAX_MATCHES = 50;

/** Scores of a slug or title that equals the whole query. */
const EXACT_SLUG_SCORE = 1000;
const EXACT_TITLE_SCORE = 500;

/** Factors for the score of a word, by the field that it was found in. */
const SLUG_WEIGHT = 4;
const TITLE_WEIGHT = 3;

/** Returns the prompts that match at least one word, best match first. */
export function listBestMatches<T extends SearchableFields>(
  prompts: readonly T[],
  query: string,
): T[] {
  const foldedQuery = foldText(query);
  const words = [...new Set(foldedQuery.split(/\s+/))].filter(Boolean);
  if (words.length === 0) return [];
  return prompts
    .map(prompt => ({ prompt, score: computeSearchScore(prompt, foldedQuery, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || compareByUse(a.prompt, b.prompt))
    .slice(0, MAX_MATCHES)
    .map(({ prompt }) => prompt);
}

function compareByUse(a: SearchableFields, b: SearchableFields): number {
  return b.uses - a.uses || b.publishedAt - a.publishedAt || (a.slug < b.slug ? -1 : 1);
}

/**
 * Returns the score of a prompt: a slug or title equal to the query is best, then more words and
 * closer matches.
 */
function computeSearchScore(
  prompt: SearchableFields,
  foldedQuery: string,
  words: readonly string[],
): number {
  const slug = foldText(prompt.slug);
  const title = foldText(prompt.title);
  const description = foldText(prompt.description);
  const exactScore = Math.max(
    slug === foldedQuery ? EXACT_SLUG_SCORE : 0,
    title === foldedQuery ? EXACT_TITLE_SCORE : 0,
  );
  const wordScores = words.map(word =>
    Math.max(
      rateMatch(slug, word) * SLUG_WEIGHT,
      rateMatch(title, word) * TITLE_WEIGHT,
      rateMatch(description, word),
    ),
  );
  return exactScore + wordScores.reduce((sum, score) => sum + score, 0);
}

/**
 * Returns 3 for a whole word of the text, 2 for the beginning of a word, 1 anywhere else, 0 for no
 * match.
 */
function rateMatch(text: string, word: string): number {
  if (!text.includes(word)) return 0;
  const parts = text.split(/[^\p{L}\p{N}]+/u);
  if (parts.includes(word)) return 3;
  return parts.some(part => part.startsWith(word)) ? 2 : 1;
}
