import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildTree } from '../../src/cli/program/command-tree.ts';
import { HelpShown } from '../../src/cli/program/wrong-usage.ts';
import {
  listCommandsIn,
  listMentionedCommands,
  readDocument,
  splitCommand,
} from '../support/documents.ts';

const DOCS = path.resolve(import.meta.dirname, '..', '..', 'docs');

/** All but the reference, which the commands write themselves. */
const guides = readdirSync(DOCS).filter(
  name => /\.(md|yml)$/u.test(name) && name !== 'commands.md',
);

/**
 * Takes a command line apart as the command does, down to every flag and argument, and runs
 * nothing.
 */
async function parse(words: readonly string[]): Promise<void> {
  const runAction = (): Promise<void> => Promise.resolve();
  const tree = buildTree({
    runAction,
    version: '0.0.0',
    writeHelp: () => {},
    terminal: { stream: process.stdout, env: {} },
  });
  await tree.parseAsync([...words], { from: 'user' }).catch((error: unknown) => {
    if (!(error instanceof HelpShown)) throw error;
  });
}

describe.each([
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...guides.map(name => `docs/${name}`),
])('%s', file => {
  it('names only commands, flags and arguments that there are', async () => {
    const faults: string[] = [];
    const text = readDocument(file);
    for (const command of listCommandsIn(text)) {
      await parse(splitCommand(command)).catch((error: Error) =>
        faults.push(`${command}: ${error.message}`),
      );
    }

    for (const command of listMentionedCommands(text)) {
      await parse(splitCommand(command)).catch((error: Error) => {
        if (!/missing/u.test(error.message)) faults.push(`${command}: ${error.message}`);
      });
    }

    expect(faults).toEqual([]);
  });
});

it('would notice a command that does not exist', async () => {
  await expect(parse(splitCommand('promptrun run hello --no-such-flag'))).rejects.toThrow(
    '--no-such-flag',
  );
  await expect(parse(splitCommand('promptrun no-such-command'))).rejects.toThrow('no-such-command');
});
