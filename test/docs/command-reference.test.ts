import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMAND_TABLE } from '../../src/cli/program/command-table.ts';
import { runInProcess } from '../support/context.ts';

const docs = path.resolve(import.meta.dirname, '..', '..', 'docs');

const PATHS = COMMAND_TABLE.commands
  .filter(({ hidden, run, explain }) => !hidden && (run ?? explain) !== undefined)
  .map(({ path }) => path);

async function printWholeHelp(...argv: string[]): Promise<string> {
  return (await runInProcess([...argv, '--help'])).stdout();
}

async function printHelp(...argv: string[]): Promise<string> {
  return (await printWholeHelp(...argv)).replace(/\n\nFlags of every command .*\n$/u, '\n');
}

async function renderTopic(name: string): Promise<string> {
  return (await runInProcess(['help', name])).stdout();
}

/** Returns the help of every command, as one page. */
async function renderReference(): Promise<string> {
  const sections: string[] = [];
  for (const command of PATHS.toSorted()) {
    sections.push(
      `## promptrun ${command}\n\n\`\`\`text\n${(await printHelp(...command.split(' '))).trimEnd()}\n\`\`\`\n`,
    );
  }

  const topics = await Promise.all(['flags', 'environment', 'exit-codes'].map(renderTopic));
  return [
    '# Commands\n\nGenerated from the help of each command by `npm run docs`.\n',
    ...sections,
    ...topics.map(text => `\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`),
  ].join('\n');
}

/**
 * Returns the same for `man`, to which a line that begins with a dot or a quote would be a request.
 */
async function renderManPage(): Promise<string> {
  const escapeRoff = (text: string): string =>
    text
      .replaceAll('\\', '\\e')
      .replaceAll('-', '\\-')
      .replaceAll(/^(?=[.'])/gmu, '\\&');

  const lines = [
    '.TH PROMPTRUN 1',
    '.SH NAME',
    'promptrun \\- run published prompts on a Prompt Execution Service',
    '.SH SYNOPSIS',
    '.B promptrun\n.I command\n[\n.I arguments\n] [\n.I flags\n]',
    '.SH DESCRIPTION\n.nf',
    `${escapeRoff((await printHelp()).trimEnd())}\n.fi`,
  ];
  for (const command of PATHS.toSorted()) {
    const help = await printHelp(...command.split(' '));
    lines.push(
      `.SH ${escapeRoff(command).toUpperCase()}`,
      '.nf',
      escapeRoff(help.trimEnd()),
      '.fi',
    );
  }

  for (const name of ['flags', 'environment', 'exit-codes']) {
    lines.push(
      `.SH ${escapeRoff(name).toUpperCase()}`,
      '.nf',
      escapeRoff((await renderTopic(name)).trimEnd()),
      '.fi',
    );
  }

  return `${lines.join('\n')}\n`;
}

/** Has to be copied whole. */
const INSTALLS_COMPLETION = /^ {2}\w+: .*promptrun completion \w+/u;

describe('the command reference', () => {
  it('is at most 80 columns wide, and ends with the flags that matter to every command', async () => {
    for (const command of PATHS) {
      const help = await printWholeHelp(...command.split(' '));
      expect(
        help.split('\n').filter(line => line.length > 80 && !INSTALLS_COMPLETION.test(line)),
      ).toEqual([]);
      expect(help).toMatch(
        /\n\nFlags of every command \(--json, --query,.*: promptrun help flags\n$/u,
      );
    }
  });

  it('is what their help says, in docs/commands.md', async () => {
    await expect(await renderReference()).toMatchFileSnapshot(path.join(docs, 'commands.md'));
  });

  it('is what their help says, in the man page', async () => {
    await expect(await renderManPage()).toMatchFileSnapshot(path.join(docs, 'man', 'promptrun.1'));
  });
});
