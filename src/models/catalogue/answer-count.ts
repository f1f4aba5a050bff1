type SentOptions = Readonly<Record<string, unknown>>;

/** Returns the number of answers that a run requests, by which its cost is multiplied. */
export function getAnswerCount(options: SentOptions): number {
  return parseWholeNumber(options['n']) ?? 1;
}

/** Limits with names like those of multipliers. */
const COUNT_LIMIT_OPTIONS = new Set(['n_predict', 'n_ctx', 'n_keep', 'n_probs']);

/** Other names for the number of answers at providers. */
const OTHER_COUNT_FIELDS = new Set([
  'candidate_count',
  'sample_count',
  'number_of_images',
  'num_images',
]);

/**
 * Returns an option that multiplies the cost of a run by an unknown number; undefined if there is
 * none. A whole `n` is counted by `getAnswerCount`, and a multiplier of 1 changes nothing.
 */
export function findUnknownMultiplier(options: SentOptions): string | undefined {
  return Object.keys(options).find(key => {
    const value = options[key];
    if (value === null || value === undefined || !isMultiplier(key)) return false;
    const count = parseWholeNumber(value);
    return key === 'n' ? count === undefined : count !== 1;
  });
}

function isMultiplier(key: string): boolean {
  const field = key.replace(/[A-Z]/gu, letter => `_${letter.toLowerCase()}`);
  if (COUNT_LIMIT_OPTIONS.has(field)) return false;
  return field === 'n' || /^(?:n_|best_of)/u.test(field) || OTHER_COUNT_FIELDS.has(field);
}

/**
 * Returns a value as a whole number of at least 1; undefined if it is not one, as a number or as
 * text.
 */
export function parseWholeNumber(value: unknown): number | undefined {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 1 ? count : undefined;
}
