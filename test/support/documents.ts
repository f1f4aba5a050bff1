import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** Returns the text of a file of this repository. */
export function readDocument(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** Returns the lines of the shell blocks in a text, without comments and empty lines. */
export function listShellLines(text: string): string[] {
  return [...text.matchAll(/```sh\n([\s\S]*?)```/gu)]
    .flatMap(([, block = '']) => block.split('\n'))
    .map(line => line.replace(/(^|\s+)#.*$/u, '').trim())
    .filter(line => line !== '');
}

/**
 * Returns the command lines of promptrun in the shell blocks of a text, and in the jobs it shows.
 */
export function listCommandsIn(text: string): string[] {
  const jobs = [...text.matchAll(/^\s*- (?:run: )?(npx .*)$/gmu)].map(([, line = '']) => line);
  return [...listShellLines(text), ...jobs].flatMap(listLineCommands);
}

/** Returns the command lines between backticks, which may be incomplete. */
export function listMentionedCommands(text: string): string[] {
  return [...text.replace(/```[\s\S]*?```/gu, '').matchAll(/`([^`]+)`/gu)]
    .map(([, code = '']) => code.replace(/\s+/gu, ' '))
    .flatMap(listLineCommands);
}

/** Returns the command lines of promptrun in one line of a shell. */
export function listLineCommands(line: string): string[] {
  return line
    .split(/ \| | && /u)
    .map(part => part.replace(/^npx (--yes )?/u, ''))
    .filter(part => part.startsWith('promptrun '));
}

/**
 * Returns the words of a command line after the command's own name, as a shell takes them apart.
 */
export function splitCommand(command: string): string[] {
  const words = command.match(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/gu) ?? [];
  return words.slice(1).map(word => word.replace(/['"]/gu, ''));
}
