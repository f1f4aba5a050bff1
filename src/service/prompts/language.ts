/** The readers of templates and front matter take a while to load; a version that was read once needs them no more. */
export async function loadLanguage(): Promise<typeof import('./parse.ts')> {
  return await import('./parse.ts');
}
