/** Returns a test for texts that contain each of the words, ignoring case and accents. */
export function createWordMatcher(words: string): (text: string) => boolean {
  const needles = foldText(words).split(/\s+/u).filter(Boolean);
  return text => {
    const folds = foldText(text);
    return needles.every(word => folds.includes(word));
  };
}

/** Returns a text without accents and in lower case, for comparison. */
export function foldText(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
