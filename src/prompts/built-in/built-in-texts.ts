import { readInstalledText } from '../../files/installed/installed-file.ts';

/** Returns the texts of a starter prompt file and its test file, both called `name`. */
export function buildStarterPrompt(
  name: string,
  { image = false }: { image?: boolean } = {},
): { readonly prompt: string; readonly test: string } {
  const kind = image ? 'image' : 'text';
  const prompt = readBuiltInText(`new/${kind}.prompt`).replace('TITLE', () => formatTitle(name));
  return { prompt, test: readBuiltInText(`new/${kind}.test.yaml`) };
}

/** Converts `write-mail` to `Write mail`, quoted for YAML if necessary. */
function formatTitle(name: string): string {
  const words = name.replace(/[-_.]+/g, ' ').trim();
  return JSON.stringify(words.charAt(0).toUpperCase() + words.slice(1));
}

/** Reads a file of this folder, which the build copies into the package. */
export function readBuiltInText(name: string): string {
  return readInstalledText(`dist/prompts/${name}`, `prompts/built-in/${name}`);
}
