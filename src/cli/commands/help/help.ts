import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { installedFile } from '../../../files/installed-file.ts';
import { didYouMean } from '../../../files/nearest.ts';
import { usageError } from '../../errors.ts';

/** The flags that every command takes, as `help flags` prints them. */
function flagsTopic(root: Command): string {
  const rows = [
    ...root.options.map(({ flags, description }) => [flags, description]),
    ['-h, --help', 'explain the command'],
  ];
  const width = Math.max(...rows.map(([flags = '']) => flags.length));
  const lines = rows.map(([flags = '', description = '']) => `  ${flags.padEnd(width)}  ${description}`);
  return `Flags of every command, before or after its name\n\n${lines.join('\n')}\n`;
}

/** What `help` prints besides guides and the help of commands, and the files in docs/. */
const TOPICS = { environment: 'environment.txt', 'exit-codes': 'exit-codes.txt' };

/** The guides by the names that `help` takes, and their files in docs/. */
export const GUIDES: Readonly<Record<string, string>> = {
  'prompt-files': 'prompt-files.md',
  tests: 'tests-and-recordings.md',
  'how-sure': 'how-sure.md',
  batch: 'batch.md',
  services: 'services.md',
  models: 'models.md',
  serve: 'serve.md',
  agents: 'agents.md',
  moving: 'moving.md',
};

/** The text of a topic or a guide; undefined if none has this name. @throws {Error} if it is not installed */
async function readTopic(name: string): Promise<string | undefined> {
  const file = new Map(Object.entries({ ...TOPICS, ...GUIDES })).get(name);
  return file === undefined ? undefined : readFile(installedFile(`docs/${file}`), 'utf8');
}

/** Explains a topic, or a command however deep, as `--help` after its name does; or prints a guide. */
export async function help(words: readonly string[], command: Command): Promise<void> {
  const [name = ''] = words;
  const print = (text: string): void => command.configureOutput().writeOut?.(text);
  const isAlone = words.length === 1;
  if (isAlone && name === 'flags' && command.parent !== null) return print(flagsTopic(command.parent));
  const guide = isAlone ? await readTopic(name) : undefined;
  if (isAlone && !isCommand(command, name)) {
    if (guide === undefined) throw unknownTopic(command, name);
    return print(guide);
  }
  try {
    await command.parent?.parseAsync([...words, '--help'], { from: 'user' });
  } finally {
    // What shows a help ends by throwing.
    if (guide !== undefined) print(`\n${guide}`);
  }
}

function unknownTopic({ parent }: Command, name: string): Error {
  const commands = parent?.commands.flatMap(one => [one.name(), ...one.aliases()]) ?? [];
  const names = [...commands, 'flags', ...Object.keys(TOPICS), ...Object.keys(GUIDES)];
  return usageError(
    `unknown command '${name}'${didYouMean(name, names)}`,
    `Topics: flags, ${Object.keys(TOPICS).join(', ')}`,
    `Guides: ${Object.keys(GUIDES).join(', ')}`,
    'See: promptrun --help',
  );
}

function isCommand({ parent }: Command, name: string): boolean {
  return parent?.commands.some(other => other.name() === name || other.aliases().includes(name)) === true;
}
