import { Command, Help, InvalidArgumentError, Option } from 'commander';
import type { HelpTerminal } from '../commands/help/help.ts';
import type { Context } from '../context.ts';
import {
  type CommandSpec,
  type FlagSpec,
  getCommandName,
  listSubcommands,
} from '../core/command-spec.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { wrapCommand, wrapLines, wrapRow } from '../terminal/wrap-lines.ts';
import { COMMAND_TABLE, REQUEST_HEADINGS } from './command-table.ts';
import type { ProgramCommand } from './program-command.ts';
import { formatUsageLine, throwParsingEnd } from './wrong-usage.ts';

export interface TreeOptions {
  /** Runs a command in the context of the parsed global flags, and records its exit code. */
  readonly runAction: (command: Command, run: (ctx: Context) => Promise<ExitCode>) => Promise<void>;
  readonly version: string;
  readonly writeHelp: (text: string) => void;
  readonly terminal: HelpTerminal;
}

/** Maximum width of help, in columns, on any terminal. */
const MAX_HELP_WIDTH = 80;

const EXAMPLES = [
  'run hello -i name=Ada    # a sample prompt, on the embedded service',
  'run ./my.prompt -i topic=tea',
  'login --base-url https://prompts.example.com/v1',
  'help prompt-files        # or: models, environment, runs list …',
];

/**
 * Builds commander's tree from the table: names and summaries at once, the rest of a command on
 * demand.
 */
export function buildTree(options: TreeOptions): Command {
  const root = new Command('promptrun');
  configureRoot(root, options);
  addCommands(
    root,
    COMMAND_TABLE.commands.filter(({ path }) => !path.includes(' ')),
    options,
  );
  return root;
}

function configureRoot(root: Command, { version, writeHelp, terminal }: TreeOptions): void {
  const width = getHelpWidth(terminal);
  root
    .description(
      'Run, test, compare and batch prompts: your own files with your keys, or prompts that a service hosts.',
    )
    .usage('<command> [options]')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain the command')
    .helpCommand(false)
    .configureHelp({
      visibleOptions: listOwnOptions,
      optionDescription: describeOption,
      // A command that is not declared yet has only a name.
      subcommandTerm: command => command.name(),
      commandUsage: formatUsageLine,
      styleUsage: usage => wrapLines(usage, width - 'Usage: '.length),
      formatItem: formatHelpRow,
      minWidthToWrap: 1,
    })
    .configureOutput({
      writeOut: writeHelp,
      writeErr: writeHelp,
      outputError: () => {}, // the caller that catches the error reports it
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('after', () => formatExamples(EXAMPLES, width))
    .addHelpText('after', () =>
      wrapLines(
        '\nFlags of every command (--json, --query, --profile, …): promptrun help flags',
        width,
      ),
    );

  for (const flag of COMMAND_TABLE.globalFlags) root.addOption(createOption(flag));
  root.addOption(new Option('--debug-body').hideHelp());
  interceptParsingEnd(root);
}

/** Adds commands by name; declares each in full only when it is called, which saves time. */
function addCommands(
  parent: Command,
  specs: readonly ProgramCommand[],
  options: TreeOptions,
): void {
  const undeclaredCommands = new Map<Command, ProgramCommand>();
  for (const spec of specs) {
    const command = createStub(spec, parent);
    undeclaredCommands.set(command, spec);
    parent.addCommand(command, { hidden: spec.hidden === true });
  }
  parent.hook('preSubcommand', (_, command) => {
    const spec = undeclaredCommands.get(command);
    undeclaredCommands.delete(command);
    if (spec !== undefined) declareCommand(command, spec, options);
  });
}

/** Returns a command with its parent's settings, which `addCommand` does not pass on. */
function createStub(spec: ProgramCommand, parent: Command): Command {
  const { path, summary, aliases = [], heading, run } = spec;
  const command = new Command(getCommandName(spec))
    .copyInheritedSettings(parent)
    .helpCommand(false);
  command
    .aliases([...aliases])
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
  if (heading !== undefined && parent.parent === null) command.helpGroup(heading);
  const isGroup = run === undefined && listSubcommands(COMMAND_TABLE, path).length > 0;
  if (isGroup) command.usage('<command> [options]');
  interceptParsingEnd(command);

  return command;
}

function declareCommand(command: Command, spec: ProgramCommand, options: TreeOptions): void {
  for (const [name, description] of spec.arguments ?? []) command.argument(name, description);
  for (const flag of spec.flags ?? []) command.addOption(createOption(flag));
  command.addHelpText('after', () => formatHelpFooter(spec, getHelpWidth(options.terminal)));

  const { run, explain } = spec;
  if (run !== undefined) {
    command.action((...input: unknown[]) =>
      options.runAction(command, async ctx => {
        refuseForeignFlags(command);
        const args = [...input.slice(0, -2), mergeParentFlags(command)];
        return (await run(ctx, args, command)) ?? EXIT.ok;
      }),
    );
  }

  if (explain !== undefined) {
    command.action((words: readonly string[]) => explain(words, command, options.terminal));
  }

  addCommands(command, listSubcommands(COMMAND_TABLE, spec.path), options);
}

/** Refuses the flags of its parent that a command does not declare. */
function refuseForeignFlags(command: Command & { unknownOption?: (flag: string) => void }): void {
  const ownNames = command.options.map(option => option.attributeName());
  const foreignName = Object.keys(getParentFlags(command)).find(name => !ownNames.includes(name));
  const foreignFlag = command.parent?.options.find(
    option => option.attributeName() === foreignName,
  );
  if (foreignFlag) command.unknownOption?.(foreignFlag.long ?? foreignFlag.flags);
}

/**
 * Returns the flags of a command, with those that commander assigned to its parent because both
 * declare them.
 */
function mergeParentFlags(command: Command): object {
  return { ...command.opts(), ...getParentFlags(command) };
}

/** Returns the flags that were given to the parent of a command. Those of the root are global. */
function getParentFlags({ parent }: Command): Readonly<Record<string, unknown>> {
  if (!parent?.parent) return {};
  return Object.fromEntries(
    Object.entries(parent.opts()).filter(([name]) => parent.getOptionValueSource(name) === 'cli'),
  );
}

function formatHelpFooter({ examples, notes, heading }: CommandSpec, columns: number): string {
  const flags = REQUEST_HEADINGS.includes(heading)
    ? '--json, --query, --timeout'
    : '--json, --query';
  const sections = [formatExamples(examples, columns)];
  if (notes !== undefined) {
    sections.push(wrapLines(typeof notes === 'string' ? notes : notes(), columns));
  }

  sections.push(wrapLines(`Flags of every command (${flags}, …): promptrun help flags`, columns));
  return sections.join('\n\n');
}

function formatExamples(examples: readonly string[], columns: number): string {
  const lines = examples.map(line =>
    /\bpromptrun /.test(line) ? `  ${line}` : `  promptrun ${line}`,
  );
  return ['\nExamples:', ...lines.map(line => wrapCommand(line, columns))].join('\n');
}

function getHelpWidth({ stream }: HelpTerminal): number {
  return Math.min(stream.columns || MAX_HELP_WIDTH, MAX_HELP_WIDTH);
}

/** Returns a row of a list in help: the term, and its text in the next column or below it. */
function formatHelpRow(this: Help, term: string, width: number, text: string): string {
  return wrapRow(`  ${term.padEnd(width)}  `, text, this.helpWidth ?? MAX_HELP_WIDTH);
}

function createOption([flags, description, traits = {}]: FlagSpec): Option {
  const { choices, repeats = false, required = false, conflicts } = traits;
  const option = new Option(flags, description).makeOptionMandatory(required);
  if (conflicts !== undefined) option.conflicts(conflicts);
  if (choices !== undefined) option.choices(choices);

  const [, valueName] = /<(file|dir)\b/u.exec(flags) ?? [];
  if (valueName !== undefined) {
    option.argParser(valueName === 'dir' ? requireDirectoryName : requireFileName);
  }

  if (repeats) option.default([]).argParser(createCollector(option));
  if (traits.default !== undefined) option.default(traits.default);
  return option;
}

function requireFileName(value: string): string {
  if (value === '') throw new InvalidArgumentError('Name a file.');
  return value;
}

// An unset variable in a script must not turn a replay into runs that cost money.
function requireDirectoryName(value: string): string {
  if (value === '') throw new InvalidArgumentError('Name a directory.');
  return value;
}

/**
 * Returns a parser that collects the values of a repeatable flag, each checked as a single value
 * is.
 */
function createCollector({ parseArg: check }: Option) {
  return (value: string, before: readonly string[]): string[] => {
    check?.(value, undefined);
    return [...before, value];
  };
}

function interceptParsingEnd(command: Command): void {
  command.exitOverride(error => throwParsingEnd(command, error));
  command.on('beforeHelp', () => refuseUnknownCommand(command));
}

/** Returns the flags of this command alone; global flags have their own line. */
function listOwnOptions(command: Command): Option[] {
  return command.parent === null ? [] : command.options.filter(option => !option.hidden);
}

/** Describes a flag without the empty default of a repeatable one. */
function describeOption(this: Help, option: Option): string {
  const { defaultValue } = option as { defaultValue?: unknown };
  const isEmptyList = Array.isArray(defaultValue) && defaultValue.length === 0;
  if (!isEmptyList) return Help.prototype.optionDescription.call(this, option);
  const { description, argChoices = [] } = option;
  const choices = argChoices.map(choice => JSON.stringify(choice)).join(', ');
  return choices === '' ? description : `${description} (choices: ${choices})`;
}

/** Refuses an unknown command, for which commander would show the help of its parent. */
function refuseUnknownCommand(command: Command & { unknownCommand?: () => void }): void {
  const [word] = command.args;
  if (word === undefined || word.startsWith('-') || command.commands.length === 0) return;
  command.unknownCommand?.();
}
