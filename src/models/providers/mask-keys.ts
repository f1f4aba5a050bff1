/** Minimum length of a key to mask everywhere: a shorter one could be any word of a message. */
const MIN_MASKED_LENGTH = 8;

/** Masks keys and passwords: providers repeat parts of a wrong key, and URLs may hold passwords. */
export function maskKeys(text: string, ...keys: readonly string[]): string {
  return keys
    .reduce((maskedText, key) => maskKey(maskedText, key), text)
    .replace(/[\w*.-]+/g, maskSecret)
    .replace(/\bBearer\s+\S{6,}/gi, bearer => (/\d/.test(bearer) ? 'Bearer ***' : bearer))
    .replace(/\/\/[^/@\s]+@/g, '//***@');
}

/**
 * Masks a word such as `sk-ab12cd…`, but not `key-value`: a secret has a digit, or a mask of the
 * provider's own.
 */
function maskSecret(word: string): string {
  const prefix = /\b(?:sk|pk|key)-/i.exec(word);
  if (prefix === null) return word;
  const secret = word.slice(prefix.index + prefix[0].length);
  return secret.length >= 6 && /[\d*]/.test(secret) ? `${word.slice(0, prefix.index)}***` : word;
}

/** Masks the key. A short one is masked only where the text calls it a key. */
function maskKey(text: string, key: string): string {
  if (key === '') return text;
  if (key.length >= MIN_MASKED_LENGTH) return text.replaceAll(key, '***');
  const literal = key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

  return text.replace(
    new RegExp(
      `((?:key|bearer|token)[^\\w]{0,3}(?:provided)?[:="'\\s]{1,4})${literal}(?!\\w)`,
      'gi',
    ),
    '$1***',
  );
}
