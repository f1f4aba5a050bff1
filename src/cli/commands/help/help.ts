import type { Command } from 'commander';
import { didYouMean } from '../../core/nearest.ts';
import { usageError } from '../../errors.ts';
import { flagsTopic, GUIDES, readGuide, TOPICS } from './topics.ts';

const TOPICS_LINE = `Topics: flags, ${Object.keys(TOPICS).join(', ')}`;
const GUIDES_LINE = `Guides: ${Object.keys(GUIDES).join(', ')}`;

/** Explains a topic, or a command however deep, as `--help` after its name does; or prints a guide. */
export async function help(words: readonly string[], _flags: object, command: Command): Promise<void> {
  const [name = ''] = words;
  const print = (text: string): void => command.configureOutput().writeOut?.(text);
  const topic = words.length === 1 ? topicOf(command, name) : undefined;
  if (topic !== undefined) return print(topic);
  const guide = words.length === 1 ? await readGuide(name) : undefined;
  if (guide !== undefined && !isCommand(command, name)) return print(guide);
  if (words.length === 1 && !isCommand(command, name)) throw unknownTopic(command, name);
  try {
    await command.parent?.parseAsync([...words, '--help'], { from: 'user' });
  } finally {
    // What shows a help ends by throwing.
    if (guide !== undefined) print(`\n${guide}`);
  }
}

function unknownTopic({ parent }: Command, name: string): Error {
  const commands = parent?.commands.flatMap(one => [one.name(), ...one.aliases()]) ?? [];
  const known = [...commands, 'flags', ...Object.keys(TOPICS), ...Object.keys(GUIDES)];
  return usageError(
    `unknown command '${name}'${didYouMean(name, known)}`,
    TOPICS_LINE,
    GUIDES_LINE,
    'See: promptrun --help',
  );
}

function isCommand({ parent }: Command, name: string): boolean {
  return parent?.commands.some(other => other.name() === name || other.aliases().includes(name)) === true;
}

function topicOf({ parent }: Command, name: string): string | undefined {
  if (name === 'flags' && parent !== null) return flagsTopic(parent);
  return Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
}
