import type { Command } from 'commander';
import { flagsTopic, TOPICS } from './topics.ts';

const EXAMPLES = `
Topics: flags, ${Object.keys(TOPICS).join(', ')}

Examples:
  promptrun help runs list
  promptrun help environment`;

export function declareHelp(command: Command): void {
  command
    .argument('[topic...]', 'a command, or one of the topics below')
    .addHelpText('after', EXAMPLES)
    .action((words: string[]) => help(command, words));
}

/** Explains a topic, or a command however deep: as `--help` after its name does. */
async function help(command: Command, words: readonly string[]): Promise<void> {
  const [name = ''] = words;
  const topic = words.length === 1 ? topicOf(command, name) : undefined;
  if (topic === undefined) await command.parent?.parseAsync([...words, '--help'], { from: 'user' });
  else command.configureOutput().writeOut?.(topic);
}

function topicOf({ parent }: Command, name: string): string | undefined {
  if (name === 'flags' && parent !== null) return flagsTopic(parent);
  return Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
}
