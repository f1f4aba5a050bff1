import {
  chmodSync,
  chownSync,
  cpSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import {
  type CommandResult,
  createTemporaryDirectory,
  runInProcess,
} from '../../../support/context.ts';
import { hasGit, hasLinks, isPosix } from '../../../support/system.ts';
import { createPrompt, createRepository, runGit } from './git-fixture.ts';

let template = '';

beforeAll(() => {
  if (hasGit) template = createRepository(mkdtempSync(path.join(tmpdir(), 'promptrun-template-')));
});

afterAll(() => {
  if (template !== '') rmSync(template, { recursive: true });
});

/** Copies the repository of `createRepository` to a folder. */
function copyRepository(folder: string): string {
  cpSync(template, folder, { recursive: true });
  return folder;
}

let home = '';
let clone = '';

beforeEach(() => {
  home = createTemporaryDirectory();
  if (hasGit) clone = copyRepository(path.join(home, 'clone'));
});

const run = (
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> => runInProcess(argv, { home, local: localService, env });

async function render(target: string, env?: Readonly<Record<string, string>>): Promise<string> {
  const { stdout, stderr } = await run(['prompts', 'render', target], env);
  return stdout() || stderr();
}

describe.runIf(hasGit)('a revision of a prompt file', () => {
  it.each(['HEAD~1', 'main~1', 'main^', ':/first'])('is found as %s', async revision => {
    expect(await render(`clone/x.prompt@git:${revision}`)).toContain('first');
  });

  it('is found in a linked worktree', async () => {
    runGit(clone, 'worktree', 'add', '-q', '../tree', '-b', 'other');
    expect(await render('tree/x.prompt@git:HEAD~1')).toContain('first');
  });

  it('is found in a submodule', async () => {
    const outer = copyRepository(path.join(home, 'outer'));
    runGit(outer, 'submodule', '--quiet', 'add', clone, 'inner');
    expect(await render('outer/inner/x.prompt@git:HEAD~1')).toContain('first');
  });

  it.runIf(hasLinks)(
    'is found in a deleted folder with a name that git could misread, through a link',
    async () => {
      const oddFolder = path.join(clone, '-a :(top)b');
      mkdirSync(oddFolder);
      writeFileSync(path.join(oddFolder, '_p.prompt'), 'partial');
      writeFileSync(
        path.join(oddFolder, 'y.prompt'),
        createPrompt('{{>p}}').replace(/input:[^]*?string\n/u, ''),
      );
      runGit(clone, 'add', '.');
      runGit(clone, 'commit', '-qm', 'odd');
      runGit(clone, 'rm', '-rq', '--', '-a :(top)b');
      symlinkSync(clone, path.join(home, 'link'));

      expect(await render('link/-a :(top)b/y.prompt@git:HEAD')).toContain('partial');
    },
  );

  it('is that of the repository of the file, whatever repository the environment names', async () => {
    const other = copyRepository(path.join(home, 'other'));
    const env = {
      GIT_DIR: path.join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_OBJECT_DIRECTORY: '/nowhere',
    };
    expect(await render('clone/x.prompt@git:HEAD~1', env)).toContain('first');
  });

  it.runIf(hasLinks).each([
    ['clone/x.prompt@git:--help', '"--help" is not a revision'],
    ['clone/x.prompt@git:no-such', 'the revision does not exist'],
    ['clone/x.prompt@git:^HEAD', '"^HEAD" is not a revision'],
    ['clone/y.prompt@git:HEAD', 'y.prompt is not in that revision'],
    ['clone/link.prompt@git:HEAD', 'link.prompt is a link in that revision'],
    ['elsewhere/x.prompt@git:HEAD', 'it is not in a git repository'],
    ['empty/x.prompt@git:HEAD', 'does not lead to a git repository'],
  ])('is refused as %s', async (target, message) => {
    symlinkSync('x.prompt', path.join(clone, 'link.prompt'));
    runGit(clone, 'add', '.');
    runGit(clone, 'commit', '-qm', 'link');
    mkdirSync(path.join(home, 'empty/.git'), { recursive: true });
    const { exitCode, stderr } = await run(['run', target]);
    expect(stderr()).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe.runIf(isPosix)('git', () => {
  /** Creates a program that logs its arguments and environment, then runs git. */
  function createGitSpy(): { env: Record<string, string>; readLog: () => string } {
    const log = path.join(home, 'log');
    const realPath = process.env['PATH'] ?? '';
    mkdirSync(path.join(home, 'bin'));
    const file = path.join(home, 'bin/git');
    writeFileSync(
      file,
      `#!/bin/sh\n{ echo "$@"; env; } >> '${log}'\nPATH='${realPath}' exec git "$@"\n`,
    );
    chmodSync(file, 0o755);

    return {
      env: { PATH: `${path.dirname(file)}:${realPath}` },
      readLog: () => readFileSync(log, 'utf8'),
    };
  }

  it('gets no key, no PROMPTRUN_ variable and no variable that redirects it', async () => {
    const { env, readLog } = createGitSpy();
    mkdirSync(path.join(home, 'data'), { mode: 0o700 });
    const models =
      'providers:\n  mine:\n    baseUrl: https://example.com/v1\n    apiKeyEnv: MY_SECRET\n';
    writeFileSync(path.join(home, 'data/models.yaml'), models, { mode: 0o600 });
    const secrets = {
      OPENAI_API_KEY: 'k1',
      MY_SECRET: 'k2',
      PROMPTRUN_API_KEY: 'k3',
      GIT_EXEC_PATH: '/k4',
    };
    await render('clone/x.prompt@git:HEAD', { ...env, ...secrets, GIT_SSH_COMMAND: 'k5' });

    expect(readLog()).toContain('rev-parse');
    expect(readLog()).not.toMatch(/=\/?k\d$|^PROMPTRUN_|^GIT_(?:EXEC_PATH|SSH)/mu);
  });

  it('may fetch nothing, run no hook and start nothing else', async () => {
    const { env, readLog } = createGitSpy();
    await render('clone/x.prompt@git:HEAD', {
      ...env,
      GIT_ALLOW_PROTOCOL: 'file',
      GIT_NO_LAZY_FETCH: '0',
    });

    const settings =
      '-c safe.bareRepository=explicit -c core.hooksPath=/dev/null -c core.fsmonitor=false';
    const calls = readLog()
      .split('\n')
      .filter(line => line.includes(settings));

    expect(calls.map(line => line.split('core.fsmonitor=false ')[1]?.split(' ')[0])).toEqual([
      'rev-parse',
      'ls-tree',
      'cat-file',
    ]);

    expect(readLog()).toMatch(/^GIT_ALLOW_PROTOCOL=none$/mu);
    expect(readLog()).toMatch(/^GIT_NO_LAZY_FETCH=1$/mu);
  });

  it('is never taken from the working directory', async () => {
    writeFileSync(path.join(home, 'git'), `#!/bin/sh\ntouch ${home}/started\n`, { mode: 0o755 });
    const { stderr } = await run(['run', 'clone/x.prompt@git:HEAD'], { PATH: '.::bin' });
    expect(stderr()).toContain('git is not installed');
  });
});

const OTHER_USER_ID = 12_345;

describe.skipIf(process.geteuid?.() !== 0)('a repository of another user', () => {
  it.each([
    { name: 'its folder belongs to them', foreignPath: 'clone', initFlags: [] },
    { name: 'its .git belongs to them', foreignPath: 'clone/.git', initFlags: [] },
    {
      name: 'what its .git leads to belongs to them',
      foreignPath: 'store',
      initFlags: ['--separate-git-dir', '../store'],
    },
  ])('is refused if $name, unless the user calls it safe', async ({ foreignPath, initFlags }) => {
    runGit(clone, 'init', '-q', ...initFlags);
    chownSync(path.join(home, foreignPath), OTHER_USER_ID, OTHER_USER_ID);
    const { exitCode, stderr } = await run(['run', 'clone/x.prompt@git:HEAD']);

    expect(stderr()).toMatch(/belongs to another user[^]*safe\.directory/u);
    expect(exitCode).toBe(EXIT.usage);

    runGit(clone, '-c', 'safe.directory=*', 'config', 'safe.directory', '*');
    expect((await run(['run', 'clone/x.prompt@git:HEAD'])).exitCode).toBe(EXIT.usage);

    const safeFolder = realpathSync.native(clone);
    writeFileSync(path.join(home, '.gitconfig'), `[Safe]\n\tdirectory = "${safeFolder}" ; mine\n`);

    expect(await render('clone/x.prompt@git:HEAD~1')).toContain('first');
  });

  it.runIf(hasLinks)('is refused behind a link of another user', async () => {
    runGit(clone, 'init', '-q', '--separate-git-dir', '../store');
    mkdirSync(path.join(home, 'other'));
    symlinkSync('../store', path.join(home, 'other/.git'));
    lchownSync(path.join(home, 'other/.git'), OTHER_USER_ID, OTHER_USER_ID);
    expect((await run(['run', 'other/x.prompt@git:HEAD'])).exitCode).toBe(EXIT.usage);
  });

  it('is accepted by variables of the user that call it safe', async () => {
    chownSync(clone, OTHER_USER_ID, OTHER_USER_ID);
    const env = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
    };
    expect(await render('clone/x.prompt@git:HEAD~1', env)).toContain('first');
  });
});

describe.runIf(hasGit)('a revision that the user did not type', () => {
  it.each([
    { name: 'a target', content: 'target: ./x.prompt@git:HEAD\ncases: [{}]\n' },
    { name: 'an alias', content: 'target: old\ncases: [{}]\n' },
    {
      name: 'an input',
      content: 'target: ./x.prompt\ncases: [{ inputs: { a: "@x.prompt@git:HEAD" } }]\n',
    },
  ])('is refused in a test file as $name', async ({ content }) => {
    writeFileSync(path.join(clone, 'y.test.yaml'), content);
    await run(['alias', 'set', 'old', `${clone}/x.prompt@git:HEAD`]);
    const { exitCode, stdout, stderr } = await run(['test', 'clone']);
    expect(stdout() + stderr()).toContain('names a git revision');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is refused in a test file that lies about the name of its prompt', async () => {
    const name = 'x.prompt@git:HEAD';
    writeFileSync(path.join(clone, `${name}.prompt`), createPrompt('planted'));
    writeFileSync(path.join(clone, `${name}.test.yaml`), 'cases: [{}]\n');
    expect((await run(['test', 'clone'])).exitCode).toBe(EXIT.usage);
  });

  it('is refused as an image of a row', async () => {
    writeFileSync(path.join(home, 'rows.csv'), 'image\na.png@git:HEAD\n');
    writeFileSync(path.join(home, 'a.png@git:HEAD'), 'x');
    const { exitCode, stderr } = await run([
      'batch',
      'describe',
      '--from',
      'rows.csv',
      '--dry-run',
    ]);
    expect(stderr()).toContain('names a git revision');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('is refused by mcp --allow, also behind an alias', async () => {
    await run(['alias', 'set', 'old', `${clone}/x.prompt@git:HEAD`]);
    for (const name of ['clone/x.prompt@git:HEAD', 'old']) {
      const { exitCode, stderr } = await run(['mcp', '--allow', name]);
      expect(stderr()).toContain('names a git revision');
      expect(exitCode).toBe(EXIT.usage);
    }
  });
});
