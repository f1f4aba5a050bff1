/** Tags of Jinja and Nunjucks. */
const JINJA = /\{%-?\s*(?:if|for|set|block|extends|include|import|macro|raw)\b/u;

/** Returns true for a text with tags of Jinja or Nunjucks, which Handlebars leaves unchanged. */
export function isJinja(text: string): boolean {
  return JINJA.test(text);
}
