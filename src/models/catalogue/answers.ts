type Options = Readonly<Record<string, unknown>>;

/** How many answers a run asks its model for, which is what its cost is multiplied by. */
export function answersOf(options: Options): number {
  return wholeNumber(options['n']) ?? 1;
}

/** Limits whose names look like those of multipliers. */
const LIMITS = new Set(['n_predict', 'n_ctx', 'n_keep', 'n_probs']);
/** What providers call the number of answers in other ways. */
const OTHER_NAMES = new Set(['candidate_count', 'sample_count', 'number_of_images', 'num_images']);

/**
 * Returns an option that multiplies what a run costs by a number that no estimate knows; undefined if there is none. An
 * `n` that is a whole number is counted by `answersOf`, and a multiplier of 1 changes nothing.
 */
export function unknownMultiplier(options: Options): string | undefined {
  return Object.keys(options).find(key => {
    const value = options[key];
    if (value === null || value === undefined || !isMultiplier(key)) return false;
    const count = wholeNumber(value);
    return key === 'n' ? count === undefined : count !== 1;
  });
}

function isMultiplier(key: string): boolean {
  const sent = key.replace(/[A-Z]/gu, letter => `_${letter.toLowerCase()}`);
  if (LIMITS.has(sent)) return false;
  return sent === 'n' || /^(?:n_|best_of)/u.test(sent) || OTHER_NAMES.has(sent);
}

/** A whole number of at least 1, typed or as text. */
export function wholeNumber(value: unknown): number | undefined {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 1 ? count : undefined;
}
