import { readFile } from 'node:fs/promises';
import { installedFile } from '../../files/installed-file.ts';

/** The texts of a prompt file to start from and of the test file beside it; `name` is what both are called. */
export async function newPrompt(
  name: string,
  { image = false }: { image?: boolean } = {},
): Promise<{ readonly prompt: string; readonly test: string }> {
  const kind = image ? 'image' : 'text';
  const [prompt, test] = await Promise.all([
    readFile(builtIn(`new/${kind}.prompt`), 'utf8'),
    readFile(builtIn(`new/${kind}.test.yaml`), 'utf8'),
  ]);
  return { prompt: prompt.replace('TITLE', () => titleOf(name)), test };
}

/** `write-mail` → `Write mail`, as YAML writes it whatever is in it. */
function titleOf(name: string): string {
  const words = name.replace(/[-_.]+/g, ' ').trim();
  return JSON.stringify(words.charAt(0).toUpperCase() + words.slice(1));
}

/** A file beside this one, which the build copies into the package. */
export function builtIn(name: string): string {
  return installedFile(`dist/prompts/${name}`, `prompts/built-in/${name}`);
}
