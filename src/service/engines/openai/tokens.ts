import { roughTokens } from '../engine.ts';

/** The tokens an endpoint says it used; a rough count of the text where it does not say. */
export function countedTokens(usage: unknown, text: string): number {
  const total: unknown =
    typeof usage === 'object' && usage !== null && 'total_tokens' in usage ? usage.total_tokens : 0;
  return typeof total === 'number' && total >= 1 ? Math.round(total) : roughTokens(text);
}
