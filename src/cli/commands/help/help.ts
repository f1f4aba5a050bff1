import type { Command } from 'commander';
import { readInstalledText } from '../../../files/installed/installed-file.ts';
import type { Env } from '../../../utils/env.ts';
import { didYouMean } from '../../../utils/nearest-name.ts';
import { usageError } from '../../core/errors.ts';
import { createPaint, detectColourLevel } from '../../terminal/colour.ts';
import type { Sink } from '../../terminal/io.ts';
import { wrapLines } from '../../terminal/wrap-lines.ts';

/** The stream for help, and the environment that decides its form. */
export interface HelpTerminal {
  readonly stream: Sink;
  readonly env: Env;
}

/** Prints a topic, a guide, or the help of a command, at any depth. */
export async function printHelp(
  words: readonly string[],
  command: Command,
  terminal: HelpTerminal,
): Promise<void> {
  const printText = (text: string): void => command.configureOutput().writeOut?.(text);
  const topicName = words.length === 1 ? words[0] : undefined;

  const topic = topicName === undefined ? undefined : await readTopic(topicName, command, terminal);
  if (topicName !== undefined && !isCommand(command, topicName)) {
    if (topic === undefined) throw unknownTopicError(command, topicName);
    return printText(topic);
  }

  // Commander parses again, and so forgets that this line has --no-pager.
  const flags = command.optsWithGlobals<{ pager: boolean }>().pager ? [] : ['--no-pager'];
  try {
    await command.parent?.parseAsync([...words, '--help', ...flags], { from: 'user' });
  } finally {
    // Commander throws after it has shown help, so that the guide has to be printed here.
    if (topic !== undefined) printText(`\n${topic}`);
  }
}

/** Returns the global flags, as `help flags` prints them. */
function formatFlagsTopic(root: Command): string {
  const rows = [
    ...root.options
      .filter(({ hidden }) => !hidden)
      .map(({ flags, description }) => [flags, description]),
    ['-h, --help', 'explain the command'],
  ];
  const width = Math.max(...rows.map(([flags = '']) => flags.length));
  const lines = rows.map(
    ([flags = '', description = '']) => `  ${flags.padEnd(width)}  ${description}`,
  );
  return `Flags of every command, before or after its name\n\n${lines.join('\n')}\n`;
}

/** The width for which topics are written, and the default width of a terminal. */
const TOPIC_WIDTH = 80;

/** The topics of `help`, apart from guides and commands, and their files in docs/. */
const TOPIC_FILES = { environment: 'environment.txt', 'exit-codes': 'exit-codes.txt' };

/** The guides of `help` by name, and their files in docs/. */
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
  scale: 'scale.md',
};

/**
 * Returns a topic or a guide; undefined if none has this name.
 *
 * @throws {Error} if its file is missing
 */
async function readTopic(
  name: string,
  command: Command,
  terminal: HelpTerminal,
): Promise<string | undefined> {
  if (name === 'flags' && command.parent !== null) {
    const columns = Math.min(terminal.stream.columns ?? TOPIC_WIDTH, TOPIC_WIDTH);
    return wrapLines(formatFlagsTopic(command.parent), columns);
  }

  const files = new Map(Object.entries({ ...TOPIC_FILES, ...GUIDES }));

  // Links in the guides lead to `tests-and-recordings`, whose short name is `tests`.
  const file = files.get(name) ?? [...files.values()].find(fileName => fileName === `${name}.md`);
  if (file === undefined) return undefined;

  const text = readInstalledText(`docs/${file}`);
  return file.endsWith('.md')
    ? formatGuide(text, command, terminal)
    : fitTopicToTerminal(text, terminal.stream);
}

/** Lays out a guide for a terminal, or if colours are forced; programs get the Markdown. */
async function formatGuide(
  text: string,
  command: Command,
  { stream, env }: HelpTerminal,
): Promise<string> {
  const level = detectColourLevel(stream, env, {
    isAllowed: command.optsWithGlobals<{ color: boolean }>().color,
  });
  if (stream.isTTY !== true && level === 0) return text;

  const { layOutGuide } = await import('./lay-out-guide.ts');
  const guides = new Map(
    Object.entries(GUIDES).map(([name, file]) => [file, `promptrun help ${name}`]),
  );
  const paint = await createPaint(level);

  return layOutGuide(text, {
    columns: stream.columns || TOPIC_WIDTH,
    paint,
    findLinkCommand: href => guides.get(href),
  });
}

/** Lays out a topic again if the terminal is narrower than the topic's lines. */
function fitTopicToTerminal(text: string, { isTTY, columns = TOPIC_WIDTH }: Sink): string {
  return isTTY === true && columns < TOPIC_WIDTH
    ? wrapLines(joinWrappedLines(text), columns)
    : text;
}

/** Joins the lines of paragraphs, of lists with commas, and of indented continuations. */
function joinWrappedLines(text: string): string {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const lineAbove = lines.at(-1) ?? '';
    if (!continuesLine(lineAbove, line)) {
      lines.push(line);
      continue;
    }
    // The line above may be a term, such as a variable, and this one its explanation.
    const isTerm = /^ {2}\S+(?:, \S+)*$/u.test(lineAbove) && !lineAbove.endsWith(',');
    lines[lines.length - 1] = `${lineAbove}${isTerm ? '  ' : ' '}${line.trimStart()}`;
  }
  return lines.join('\n');
}

function continuesLine(lineAbove: string, line: string): boolean {
  if (lineAbove === '' || line === '') return false;
  const isProse = /^\S/u.test(lineAbove) && !lineAbove.endsWith(':') && /^\S/u.test(line);
  return isProse || lineAbove.endsWith(',') || /^ {4}/u.test(line);
}

function unknownTopicError({ parent }: Command, name: string): Error {
  const commands =
    parent?.commands.flatMap(command => [command.name(), ...command.aliases()]) ?? [];
  const names = [...commands, 'flags', ...Object.keys(TOPIC_FILES), ...Object.keys(GUIDES)];
  return usageError(
    `unknown command '${name}'${didYouMean(name, names)}`,
    `Topics: flags, ${Object.keys(TOPIC_FILES).join(', ')}`,
    `Guides: ${Object.keys(GUIDES).join(', ')}`,
    'See: promptrun --help',
  );
}

function isCommand({ parent }: Command, name: string): boolean {
  return (
    parent?.commands.some(
      command => command.name() === name || command.aliases().includes(name),
    ) === true
  );
}
