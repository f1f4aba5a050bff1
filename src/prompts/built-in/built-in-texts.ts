import { installedText } from '../../files/installed/installed-file.ts';

/** Returns the texts of a starter prompt file and its test file, both called `name`. */
export function newPrompt(
  name: string,
  { image = false }: { image?: boolean } = {},
): { readonly prompt: string; readonly test: string } {
  const kind = image ? 'image' : 'text';
  const prompt = builtInText(`new/${kind}.prompt`).replace('TITLE', () => titleFromName(name));
  return { prompt, test: builtInText(`new/${kind}.test.yaml`) };
}

/** Converts `write-mail` to `Write mail`, quoted for YAML if necessary. */
function titleFromName(name: string): string {
  const words = name.replace(/[-_.]+/g, ' ').trim();
  return JSON.stringify(words.charAt(0).toUpperCase() + words.slice(1));
}

/** Reads a file of this folder, which the build copies into the package. */
export function builtInText(name: string): string {
  return installedText(`dist/prompts/${name}`, `prompts/built-in/${name}`);
}
