import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildFileRemoval } from '../../../src/cli/commands/uninstall/uninstall.ts';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../support/context.ts';
import { hasLinks, isPosix } from '../../support/system.ts';

/** Without these, promptrun uses the default folders of the system. */
const NO_FOLDERS = { PROMPTRUN_CONFIG_DIR: '', PROMPTRUN_DATA_DIR: '', PROMPTRUN_STATE_DIR: '' };

const XDG = {
  XDG_CONFIG_HOME: '',
  XDG_DATA_HOME: '',
  XDG_STATE_HOME: '',
  XDG_CACHE_HOME: '',
  ZDOTDIR: '',
};

/** Returns a home in which promptrun was used, with the user's own files in it. */
async function createUsedHome(files: Readonly<Record<string, string>> = {}) {
  const home = createTemporaryDirectory();
  for (const [name, text] of Object.entries({ 'note.prompt': 'Tea.\n', ...files })) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), text);
  }

  const env = { HOME: home, USERPROFILE: home, ...NO_FOLDERS, ...XDG };
  const runLine = (argv: readonly string[]) =>
    runInProcess(argv, { home, env, local: localService });
  await runLine(['run', 'postcard', '-i', 'place=Oslo', '-i', 'mood=rainy']);
  await runLine(['alias', 'set', 'h', 'hello']);
  await runLine([
    'login',
    '--profile',
    'work',
    '--base-url',
    'http://127.0.0.1:9',
    '--no-keychain',
  ]);

  return { home, promptrun: runLine };
}

function listEverythingIn(home: string): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' }).sort();
}

/** Returns the command lines that, by the help, install completion. */
async function readInstallCommands(): Promise<Map<string, string>> {
  const { stdout } = await runInProcess(['completion', '--help']);
  const text = stdout().replaceAll(/\n {4,}/gu, ' ');
  return new Map(
    [...text.matchAll(/(bash|zsh|fish|powershell): (.*)/gu)].map(([, shell = '', line = '']) => [
      shell,
      line,
    ]),
  );
}

describe.skipIf(process.platform !== 'linux')('uninstall', () => {
  it('removes what promptrun keeps, and its start-up lines, but nothing else', async () => {
    const earlier = [
      'source <(promptrun completion bash)',
      'if command -v promptrun >/dev/null; then source <(promptrun completion bash); fi',
    ];
    const rc = ['# mine', 'export A=1', ...earlier, 'alias p=promptrun', ''].join('\n');
    const ownFiles = [
      '.bashrc',
      'hello.test.yaml',
      'labels.csv',
      'note.prompt',
      'notes/results.jsonl',
    ];
    const { home, promptrun } = await createUsedHome({
      '.bashrc': rc,
      'hello.test.yaml': 'cases: [{ inputs: { name: Ada } }]\ntarget: hello\n',
      'labels.csv': 'output,rubric,label\nHi,is kind,yes\n',
      'notes/results.jsonl': '{}\n',
      // A killed service leaves the journal of its lock.
      '.local/share/promptrun/workers/61ef0d8e-158a-4abb-9d6e-850ad7101dc1.lock-journal': '',
      '.local/share/promptrun/unstored-runs/61ef0d8e-158a-4abb-9d6e-850ad7101dc1': '',
    });
    await promptrun(['test']);
    await promptrun(['compare', 'hello', 'hello', '-i', 'name=Ada']);
    await promptrun(['judge', 'check', 'labels.csv', '--judge', 'echo']);

    for (const kind of ['tests', 'comparisons', 'judges']) {
      expect(readdirSync(path.join(home, '.local/state/promptrun', kind))).not.toEqual([]);
    }

    const { exitCode, stderr } = await promptrun(['uninstall', '--yes']);
    expect(exitCode).toBe(0);

    const files = listEverythingIn(home).filter(name => lstatSync(path.join(home, name)).isFile());
    expect(files).toEqual(ownFiles);
    expect(listEverythingIn(home).filter(name => name.endsWith('promptrun'))).toEqual([]);
    expect(readFileSync(path.join(home, '.bashrc'), 'utf8')).toBe(
      '# mine\nexport A=1\nalias p=promptrun\n',
    );
    expect(stderr()).toContain(`left: ${path.join(home, '.bashrc')}:5: alias p=promptrun`);
    expect(stderr()).toContain('To remove the package itself: npm uninstall --global promptrun');
  });

  it('lists everything and removes nothing with --dry-run, and without --yes off a terminal', async () => {
    const { home, promptrun } = await createUsedHome();
    const before = listEverythingIn(home);
    const dry = await promptrun(['uninstall', '--dry-run']);
    const refused = await promptrun(['uninstall']);

    expect(dry.exitCode).toBe(0);
    expect(refused.exitCode).toBe(EXIT.usage);
    expect(refused.stderr()).toContain('--yes');
    expect(refused.stdout()).toBe(dry.stdout());

    for (const name of ['config.json', 'journal.jsonl', 'promptrun.db', 'media']) {
      expect(dry.stdout()).toContain(`${path.sep}${name}\t`);
    }

    expect(listEverythingIn(home)).toEqual(before);
  });

  it.runIf(hasLinks)('keeps files that promptrun did not write, and follows no link', async () => {
    const { home, promptrun } = await createUsedHome({
      '.local/share/promptrun/models.yaml': 'models: []\n',
      '.local/share/promptrun/media/holiday.png': 'mine',
      'elsewhere/journal.jsonl': 'mine',
      'dotfiles/zshrc':
        'a\nif command -v promptrun >/dev/null; then source <(promptrun completion zsh); fi\nb\n',
    });
    symlinkSync(path.join(home, 'elsewhere'), path.join(home, '.local/state/promptrun/tests'));
    symlinkSync(path.join(home, 'dotfiles/zshrc'), path.join(home, '.zshrc'));
    const mode = statSync(path.join(home, 'dotfiles/zshrc')).mode;
    const { exitCode, stderr } = await promptrun(['uninstall', '--yes']);

    expect(exitCode).toBe(0);

    for (const name of [
      '.local/share/promptrun/models.yaml',
      '.local/share/promptrun/media/holiday.png',
      'elsewhere/journal.jsonl',
      '.local/state/promptrun/tests',
    ]) {
      expect(existsSync(path.join(home, name))).toBe(true);
    }

    expect(stderr()).toContain(`left: ${path.join(home, '.local/share/promptrun/models.yaml')}`);
    expect(existsSync(path.join(home, '.local/share/promptrun/promptrun.db'))).toBe(false);
    expect(lstatSync(path.join(home, '.zshrc')).isSymbolicLink()).toBe(true);
    expect(readFileSync(path.join(home, 'dotfiles/zshrc'), 'utf8')).toBe('a\nb\n');
    expect(statSync(path.join(home, 'dotfiles/zshrc')).mode).toBe(mode);
  });

  it.runIf(isPosix)(
    'removes the lines that help suggests, which are silent if promptrun is gone',
    async () => {
      const lines = await readInstallCommands();
      expect([...lines.keys()]).toEqual(['bash', 'zsh', 'fish', 'powershell']);

      // The bash 3.2 of macOS reads nothing from a process.
      expect(lines.get('bash')).not.toContain('<(');

      const { home, promptrun } = await createUsedHome({ '.config/fish/config.fish': '' });
      const files = { bash: '.bashrc', zsh: '.zshrc', fish: '.config/fish/config.fish' };
      for (const [shell, file] of Object.entries(files)) {
        execFileSync('/bin/sh', ['-c', lines.get(shell) ?? ''], {
          env: { HOME: home, PATH: '/usr/bin:/bin' },
        });
        expect(readFileSync(path.join(home, file), 'utf8')).toContain('promptrun completion');

        const script = path.join(home, file);
        const output = execFileSync(
          'sh',
          ['-c', `command -v ${shell} >/dev/null || exit 0; ${shell} '${script}' 2>&1`],
          {
            env: { HOME: home, PATH: '/usr/bin:/bin' },
          },
        );

        expect([shell, output.toString()]).toEqual([shell, '']);
      }

      await promptrun(['uninstall', '--yes']);

      for (const file of Object.values(files)) {
        expect(readFileSync(path.join(home, file), 'utf8')).toBe('');
      }
    },
  );

  it.each([
    { name: 'UTF-16', encoding: 'utf16le', byteOrderMark: '\uFEFF' },
    { name: 'UTF-8 with a mark', encoding: 'utf8', byteOrderMark: '\uFEFF' },
    { name: 'another encoding', encoding: 'latin1', byteOrderMark: '' },
  ] as const)('edits a start-up file in $name', async ({ encoding, byteOrderMark }) => {
    const line =
      (await readInstallCommands())
        .get('powershell')
        ?.match(/Add-Content \$PROFILE '(.*)'/u)?.[1] ?? '';
    expect(line).toContain('promptrun completion powershell');

    const { home, promptrun } = await createUsedHome();
    const file = path.join(home, '.config/powershell/Microsoft.PowerShell_profile.ps1');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, Buffer.from(`${byteOrderMark}${line}\r\n# Grüße\r\n`, encoding));
    await promptrun(['uninstall', '--yes']);

    expect(readFileSync(file).toString(encoding)).toBe(`${byteOrderMark}# Grüße\r\n`);
  });

  it.each([
    ['posix', 'rm'],
    ['cmd', 'del'],
    ['powershell', 'Remove-Item'],
    ['windows-powershell', 'Remove-Item'],
  ] as const)('returns the command with which %s removes a file', (shell, command) => {
    expect(buildFileRemoval('/a/promptrun', shell)).toBe(`${command} /a/promptrun`);
  });

  it('shows whole paths on a narrow terminal', async () => {
    const { home } = await createUsedHome();
    const env = { HOME: home, ...NO_FOLDERS, ...XDG };
    const { stdout } = await runInProcess(['uninstall', '--dry-run'], {
      home,
      env,
      terminal: { stdout: true },
      columns: 20,
    });

    expect(stdout()).toContain(`${path.join(home, '.config/promptrun/config.json')}\n  settings`);
    expect(stdout()).not.toContain('…');
  });

  it('removes nothing while a serve uses the store', async () => {
    const { home, promptrun } = await createUsedHome();
    const service = await localService.serve({
      dataDir: path.join(home, '.local/share/promptrun'),
    });
    const before = listEverythingIn(home);
    const refused = await promptrun(['uninstall', '--yes']);

    expect(refused.stderr()).toMatch(
      /a serve or a run is using .*promptrun; nothing was removed.*\nStop it/u,
    );
    expect(refused.exitCode).toBe(EXIT.usage);

    expect(listEverythingIn(home)).toEqual(before);

    await service.close();
    expect((await promptrun(['uninstall', '--yes'])).exitCode).toBe(0);
    expect(existsSync(path.join(home, '.local/share/promptrun'))).toBe(false);
  });

  it('lists nothing on a machine on which promptrun was never used', async () => {
    const home = createTemporaryDirectory();
    const env = { HOME: home, ...NO_FOLDERS, ...XDG };
    const { exitCode, stdout, stderr } = await runInProcess(['uninstall', '--yes'], { home, env });
    expect(stdout()).toBe('');
    expect(exitCode).toBe(0);
    expect((await runInProcess(['uninstall'], { home, env })).exitCode).toBe(EXIT.usage);
    expect(stderr()).toContain('To remove the package itself');
    expect(readdirSync(home)).toEqual([]);
  });
});
