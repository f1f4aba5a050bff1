import { execFile, execFileSync, execSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import {
  type CommandOptions,
  type CommandOutcome,
  runCommand,
  startCommand,
} from '../support/command.ts';
import { runCommandHere, serveHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import {
  listCommandsIn,
  listLineCommands,
  listShellLines,
  readDocument,
  splitCommand,
} from '../support/documents.ts';
import { hasLinks } from '../support/system.ts';

const README = readDocument('README.md');
const HOSTED = 'https://prompts.example.com/v1';

/** Returns the text under a heading. */
function readSection(heading: string): string {
  const [, section = ''] = README.split(`\n## ${heading}\n`);
  return section.split('\n## ')[0] ?? '';
}

/** Returns a directory with the files that the documents speak of. */
function homeWithFiles(): string {
  const home = createTemporaryDirectory();
  const files = {
    'names.csv': 'name\nAda\nGrace\n',
    'topics.csv': 'topic\ntea\n',
    'mails.csv': 'text\nSee you in Oslo.\n',
    'extract.prompt': '---\nmodel: echo\ninput: { schema: { text: string } }\n---\n{{text}}\n',
    'extract.test.yaml':
      'cases:\n  - name: reads the date\n    inputs: { text: x }\n    expect: [{ contains: x }]\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  return home;
}

type RunOptions = Pick<CommandOptions, 'env'> & { readonly home: string; readonly stdin?: string };

/**
 * Runs commands one after the other, as a reader would; in this process, or the built command by
 * `run`.
 */
async function runAll(
  commands: readonly string[],
  options: RunOptions,
  run: (words: readonly string[], options: RunOptions) => Promise<CommandOutcome> = runCommandHere,
): Promise<void> {
  for (const command of commands) {
    const { code, stderr } = await run(splitCommand(command), options);
    expect({ command, code, stderr: code === 0 ? '' : stderr }).toEqual({
      command,
      code: 0,
      stderr: '',
    });
  }
}

describe('the README', () => {
  it.each(['alone', 'with a hosted service configured'])(
    'has a tour of ten lines, which run %s',
    async on => {
      const hosted = on === 'alone' ? undefined : await serveHere();
      const env = hosted && { PROMPTRUN_BASE_URL: hosted.baseUrl, PROMPTRUN_API_KEY: hosted.key };
      const lines = listShellLines(readSection('The tour'));

      expect(lines.flatMap(line => listLineCommands(line))).toHaveLength(10);

      const home = createTemporaryDirectory();
      for (const line of lines) {
        const commands = listLineCommands(line);
        if (commands.length === 0) execSync(line, { cwd: home }); // in cmd.exe on Windows
        await runAll(commands, { home, ...(env && { env }) }, env ? runCommandHere : runCommand);
      }
    },
  );

  it('starts with one command, which installs, builds and greets, and one more, which runs all tests', async () => {
    expect(listShellLines(readSection('Start'))).toEqual(['npm start', 'npm install-test']);

    const { scripts } = JSON.parse(readDocument('package.json')) as {
      scripts: Record<'start', string>;
    };
    const [install, build, run = ''] = scripts.start.split(' && ');

    expect([install, build]).toEqual([
      expect.stringMatching(/^npm install /u),
      'npm run --silent build',
    ]);

    const { code, stdout } = await runCommand(run.replace('node bin/promptrun.js ', '').split(' '));
    expect(stdout).toContain('Ada');
    expect(code).toBe(0);
  });

  it('has only commands that cmd.exe and PowerShell take as POSIX shells do', () => {
    const blocks = [...README.matchAll(/```sh\n([\s\S]*?)```/gu)].flatMap(([, block = '']) =>
      block.split('\n'),
    );
    const programs = blocks.flatMap(line => line.split(' ', 1)).filter(word => word !== '');

    expect(new Set(programs)).toEqual(new Set(['npm', 'node', 'promptrun']));

    // Outside double quotes: operators, comments, single quotes, and the comma, which makes a list
    // in PowerShell.
    const unquoted = blocks.map(line => line.replace(/"[^"$`%!]*"/gu, '""'));
    expect(unquoted.filter(line => /[&|;<>#'$`%!^,\\]/u.test(line))).toEqual([]);
  });

  it('has commands about installing that run', async () => {
    const commands = listCommandsIn(readSection('Install'));
    expect(commands).toHaveLength(2);
    await runAll(commands, { home: homeWithFiles() });
  });

  it('connects to a hosted service as it says, by login and by the environment', async () => {
    const { baseUrl, key } = await serveHere();
    const lines = listShellLines(README).filter(line => line.includes(HOSTED));
    const [login = ''] = lines;

    expect(lines).toHaveLength(1);

    const home = homeWithFiles();
    await runAll([login.replace(HOSTED, baseUrl)], { home, stdin: key });
    await runAll(['promptrun account'], { home });
    const [, name = '', keyName = ''] =
      /variables `(\w+)` and `(\w+)`\s+instead/u.exec(README) ?? [];
    await runAll(['promptrun account'], {
      home: createTemporaryDirectory(),
      env: { [name]: baseUrl, [keyName]: key },
    });
  });

  it.runIf(hasLinks)(
    'has an example of the library that runs a prompt and lists failed runs, and CommonJS gets the same',
    async () => {
      const { baseUrl, key } = await serveHere();
      const home = createTemporaryDirectory();
      const env = { PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: key };
      const failed = await runCommand(['run', 'sandbox', '-o', 'outcome=failed'], {
        home,
        env,
      });

      expect(failed.code).toBe(EXIT.runFailed);

      mkdirSync(path.join(home, 'node_modules'));
      symlinkSync(
        path.resolve(import.meta.dirname, '../..'),
        path.join(home, 'node_modules', 'promptrun'),
      );
      const [, example = ''] = /```ts\n([\s\S]*?)```/u.exec(README) ?? [];
      writeFileSync(path.join(home, 'example.mjs'), example.replace(HOSTED, baseUrl));
      writeFileSync(
        path.join(home, 'example.cjs'),
        "const { PromptService } = require('promptrun'); console.log(typeof PromptService);",
      );
      const [listed, required] = await Promise.all(
        ['example.mjs', 'example.cjs'].map(file =>
          promisify(execFile)(process.execPath, [file], { cwd: home, env }),
        ),
      );

      expect(listed?.stdout).toMatch(/^http:\S+\n[0-9a-f-]{36} \d{4}-\d\d-\d\dT\S+Z\n$/u);
      expect([required?.stdout, required?.stderr]).toEqual(['function\n', '']);
    },
  );
});

describe('the guides', () => {
  it.each(['docs/batch.md'])('%s has commands that run one after the other', async file => {
    await runAll(listCommandsIn(readDocument(file)), { home: homeWithFiles() });
  });

  it('the prompt file of docs/prompt-files.md is checked, rendered, run and published as it says', async () => {
    const text = readDocument('docs/prompt-files.md');
    const home = createTemporaryDirectory();
    const [, prompt = ''] = /```\n(---[\s\S]*?)```/u.exec(text) ?? [];
    writeFileSync(path.join(home, 'postcard-text.prompt'), prompt);
    await runAll([...listCommandsIn(text), 'promptrun run postcard-text -i place=Rome'], { home });
  });

  it('the tests of docs/tests-and-recordings.md run as it says', async () => {
    const commands = listCommandsIn(readDocument('docs/tests-and-recordings.md'));
    const tests = commands.filter(command => command.startsWith('promptrun test'));
    const [comparison = ''] = commands.filter(command => command.includes('git:'));
    const home = homeWithFiles();
    await runAll(
      tests.filter(line => !/--failed|--resume|--watch/u.test(line)),
      { home },
    );

    expect(readFileSync(path.join(home, 'junit.xml'), 'utf8')).toContain('reads the date');

    const runGit = (...words: readonly string[]) =>
      execFileSync('git', words, { cwd: home, stdio: 'ignore' });
    runGit('init');

    for (const subject of ['one', 'two']) {
      writeFileSync(
        path.join(home, 'extract.prompt'),
        `${readFileSync(path.join(home, 'extract.prompt'), 'utf8')}${subject}\n`,
      );
      runGit('add', 'extract.prompt');
      runGit('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-m', subject);
    }

    await runAll([comparison], { home });
  });

  it('the services of docs/services.md are chosen by profiles as it says', async () => {
    const { baseUrl, key } = await serveHere();
    const commands = listCommandsIn(readDocument('docs/services.md'));

    expect(commands).toHaveLength(5);

    const home = homeWithFiles();
    const here = commands.map(command =>
      command.replace(/https:\/\/\w+\.example\.com\/v1/u, baseUrl),
    );
    await runAll(here, { home, stdin: key });
  });

  it('docs/serve.md starts a service with the prompts of a directory', async () => {
    const commands = listCommandsIn(readDocument('docs/serve.md'));
    const start = commands.find(command => command.startsWith('promptrun serve')) ?? '';
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'prompts'));
    const words = splitCommand(start).map(word => (word === '8787' ? '0' : word));
    const service = startCommand(words, { home });
    await service.untilStdout(/^listening on \S+\nkey: \S+$/mu);
    service.child.kill('SIGTERM');

    expect((await service.ended).code).toBe(0);
  });
});
