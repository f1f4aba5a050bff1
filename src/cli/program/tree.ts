import { Command, Help, type Option } from 'commander';
import type { Host } from '../context.ts';
import { type CommandEntry, type GroupEntry, HEADINGS } from './command-entry.ts';
import { COMMANDS, GROUPS } from './command-table.ts';
import { declareGlobals } from './global-flags.ts';
import { refuseUnknownCommand, throwParsingEnd, usageOf } from './parsing.ts';

export interface TreeOptions {
  readonly host: Pick<Host, 'runAction'>;
  readonly version: string;
  /** Where help goes. */
  readonly write: (text: string) => void;
  /** Columns help is wrapped to. */
  readonly columns: number;
}

const GLOBAL_FLAGS_LINE = '\nFlags of every command (--json, --query, --profile, …): promptrun help flags';

const EXAMPLES = `
Examples:
  promptrun run hello -i name=Ada    # a sample prompt, on the service built in
  promptrun run ./my.prompt -i topic=tea
  promptrun login --base-url https://prompts.example.com/v1
  promptrun help prompt-files        # or: models, environment, runs list …`;

/** Builds the command tree from the table: names and summaries at once, the rest of a command when it is called. */
export function buildTree(options: TreeOptions): Command {
  const root = new Command('promptrun');
  configureRoot(root, options);
  const loads = new Map<Command, () => Promise<void>>();
  root.hook('preSubcommand', (_, command) => loads.get(command)?.());
  const host: Host = { ...options.host, declare: async command => loads.get(command)?.() };
  for (const entry of [...COMMANDS.filter(isSingle), ...GROUPS].sort(byHeading)) {
    if ('path' in entry) addCommand(root, entry, { loads, host });
    else addGroup(root, entry, { loads, host });
  }
  return root;
}

interface Loading {
  /** What completes a command when it is called. */
  readonly loads: Map<Command, () => Promise<void>>;
  readonly host: Host;
}

function configureRoot(root: Command, { version, write, columns }: TreeOptions): void {
  root
    .description(
      'Run published prompts on a Prompt Execution Service: a hosted one, or the local one built in.',
    )
    .usage('<command> [options]')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain the command')
    .helpCommand(false)
    // Of a command that is not loaded no more than its name is known.
    .configureHelp({
      visibleOptions: ownOptions,
      optionDescription: withoutEmptyDefault,
      subcommandTerm: command => command.name(),
      commandUsage: usageOf,
    })
    .configureOutput({
      writeOut: write,
      writeErr: write,
      outputError: () => {}, // reported by whoever catches it
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('afterAll', GLOBAL_FLAGS_LINE)
    .addHelpText('after', EXAMPLES);
  declareGlobals(root);
  watchParsing(root);
}

function addGroup(root: Command, entry: GroupEntry, loading: Loading): void {
  const group = stub(root, entry.name, entry.summary);
  group
    .aliases([...entry.aliases])
    .helpGroup(entry.heading)
    .usage('<command> [options]');
  group.addHelpText('after', `\nExamples:\n${entry.examples.map(line => `  promptrun ${line}`).join('\n')}`);
  completeWhenCalled(group, entry.name, loading, entry.load);
  root.addCommand(group);
}

function addCommand(parent: Command, entry: CommandEntry, loading: Loading): void {
  const command = stub(parent, entry.path.split(' ').at(-1) ?? entry.path, entry.summary);
  if (entry.heading !== undefined) command.helpGroup(entry.heading);
  completeWhenCalled(command, entry.path, loading, entry.load);
  parent.addCommand(command, { hidden: entry.hidden === true });
}

/** A command is declared, and gets the commands below it, when it is called or explained. */
function completeWhenCalled(
  command: Command,
  path: string,
  loading: Loading,
  load?: CommandEntry['load'],
): void {
  const { loads, host } = loading;
  command.hook('preSubcommand', (_, child) => loads.get(child)?.());
  loads.set(command, async () => {
    loads.delete(command);
    (await load?.())?.(command, host);
    for (const entry of COMMANDS.filter(one => one.path.startsWith(`${path} `))) {
      addCommand(command, entry, loading);
    }
  });
}

/** `addCommand` hands nothing down by itself: without this a wrong flag would end the process from inside. */
function stub(parent: Command, name: string, summary: string): Command {
  const command = new Command(name).copyInheritedSettings(parent).helpCommand(false);
  command.summary(summary).description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
  watchParsing(command);
  return command;
}

function watchParsing(command: Command): void {
  command.exitOverride(error => throwParsingEnd(command, error));
  command.on('beforeHelp', () => refuseUnknownCommand(command));
}

/** The flags of this command alone: those of every command stand in a line of their own. */
function ownOptions(command: Command): Option[] {
  return command.parent === null ? [] : command.options.filter(option => !option.hidden);
}

function isSingle({ path }: CommandEntry): boolean {
  return !path.includes(' ');
}

function byHeading(one: CommandEntry | GroupEntry, other: CommandEntry | GroupEntry): number {
  const place = ({ heading }: CommandEntry | GroupEntry): number => HEADINGS.indexOf(heading ?? '');
  return place(one) - place(other);
}

/** No value of a flag that may be repeated is not worth a word. */
function withoutEmptyDefault(this: Help, option: Option): string {
  const { defaultValue } = option as { defaultValue?: unknown };
  const isEmptyList = Array.isArray(defaultValue) && defaultValue.length === 0;
  return isEmptyList ? option.description : Help.prototype.optionDescription.call(this, option);
}
