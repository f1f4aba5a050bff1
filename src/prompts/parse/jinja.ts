/** Matches a tag of Jinja or Nunjucks. */
const JINJA_TAG = /\{%-?\s*(?:if|for|set|block|extends|include|import|macro|raw)\b/u;

/** Returns true for a text with tags of Jinja or Nunjucks, which Handlebars leaves unchanged. */
export function isJinja(text: string): boolean {
  return JINJA_TAG.test(text);
}
