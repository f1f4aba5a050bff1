import { shellWord } from '../../terminal/shell-word.ts';

/**
 * The words of a command as one line that a shell reads back as the same words. Undefined where that is impossible:
 * no argument can hold a NUL.
 */
export function repeatCommand(words: readonly string[]): string | undefined {
  return words.some(word => word.includes('\0')) ? undefined : words.map(shellWord).join(' ');
}
