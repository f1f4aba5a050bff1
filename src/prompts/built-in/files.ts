import { installedText } from '../../files/installed-file.ts';

/** Returns the texts of a prompt file to start from and of the test file beside it; `name` is what both are called. */
export function newPrompt(
  name: string,
  { image = false }: { image?: boolean } = {},
): { readonly prompt: string; readonly test: string } {
  const kind = image ? 'image' : 'text';
  const prompt = builtInText(`new/${kind}.prompt`).replace('TITLE', () => titleOf(name));
  return { prompt, test: builtInText(`new/${kind}.test.yaml`) };
}

/** `write-mail` → `Write mail`, as YAML writes it whatever is in it. */
function titleOf(name: string): string {
  const words = name.replace(/[-_.]+/g, ' ').trim();
  return JSON.stringify(words.charAt(0).toUpperCase() + words.slice(1));
}

/** Reads a file beside this one, which the build copies into the package. */
export function builtInText(name: string): string {
  return installedText(`dist/prompts/${name}`, `prompts/built-in/${name}`);
}
