import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import {
  type CommandResult,
  createTemporaryDirectory,
  runInProcess,
} from '../../../support/context.ts';
import { isPosix } from '../../../support/system.ts';
import { createRepository, runGit, writeProgram } from './git-fixture.ts';

/** Returns a configuration that lets git fetch missing objects from a URL of the stranger. */
const configurePartialClone = (url: string, more = ''): string => `
[core]
  repositoryformatversion = 1
[extensions]
  partialClone = origin
[protocol]
  allow = always
[protocol "file"]
  allow = always
[protocol "ext"]
  allow = always
[remote "origin"]
  url = ${url}
  promisor = true
  partialclonefilter = blob:none
${more}`;

/**
 * The configurations that name a program, in all ways that git's documentation lists; each is a
 * function of the program's path.
 */
const CONFIGURATIONS: Readonly<Record<string, (p: string) => string>> = {
  'remote.<name>.uploadpack': p => configurePartialClone('/tmp', `  uploadpack = "${p};"`),
  'remote.<name>.uploadpack of a url of this machine': p =>
    configurePartialClone('file:///tmp', `  uploadpack = "${p};"`),
  'remote.<name>.vcs': p =>
    configurePartialClone('/tmp', `  vcs = ${path.basename(p)}\n  receivepack = "${p};"`),
  'ext::': p => configurePartialClone(`ext::${p}`),
  'url.<base>.insteadOf': p => configurePartialClone('x:', `[url "ext::${p} "]\n  insteadOf = x:`),
  'core.sshCommand': p =>
    configurePartialClone('ssh://localhost/x', `[core]\n  sshCommand = "${p}"`),
  'core.gitProxy': p => configurePartialClone('git://127.0.0.1:1/x', `[core]\n  gitProxy = "${p}"`),
  'credential.helper and core.askPass': p =>
    configurePartialClone(
      'http://127.0.0.1:1/',
      `[credential]\n  helper = "!${p}"\n[core]\n  askPass = "${p}"`,
    ),
  'core.alternateRefsCommand': p =>
    configurePartialClone('/tmp', `[core]\n  alternateRefsCommand = "${p}"`),
  'uploadpack.packObjectsHook': p =>
    configurePartialClone('.', `[uploadpack]\n  packObjectsHook = "${p}"`),
  'core.fsmonitor': p => `[core]\n  fsmonitor = "${p}"\n  untrackedCache = true\n`,
  'core.hooksPath': p => `[core]\n  hooksPath = "${path.dirname(p)}"\n`,
  'hook.<name>.command': p =>
    ['reference-transaction', 'post-index-change', 'pre-auto-gc', 'post-checkout']
      .map(event => `[hook "${event}"]\n  command = "${p}"\n  event = ${event}\n`)
      .join(''),
  'core.pager and pager.<cmd>': p =>
    `[core]\n  pager = "${p}"\n[pager]\n  rev-parse = "${p}"\n  ls-tree = "${p}"\n  cat-file = "${p}"\n`,
  'core.editor and sequence.editor': p =>
    `[core]\n  editor = "${p}"\n[sequence]\n  editor = "${p}"\n`,
  'diff.external, diff.<driver>.command and textconv': p =>
    `[diff]\n  external = "${p}"\n[diff "a"]\n  command = "${p}"\n  textconv = "${p}"\n`,
  'filter.<driver>.clean, smudge and process': p =>
    `[filter "a"]\n  clean = "${p}"\n  smudge = "${p}"\n  process = "${p}"\n  required = true\n`,
  'merge.<driver>.driver, mergetool, difftool, guitool': p =>
    `[merge "a"]\n  driver = "${p}"\n[merge]\n  tool = a\n[mergetool "a"]\n  cmd = "${p}"\n[difftool "a"]\n  cmd = "${p}"\n[guitool "a"]\n  cmd = "${p}"\n[interactive]\n  diffFilter = "${p}"\n`,
  'gpg.program and gpg.ssh.defaultKeyCommand': p =>
    `[log]\n  showSignature = true\n[gpg]\n  program = "${p}"\n[gpg "ssh"]\n  program = "${p}"\n  defaultKeyCommand = "${p}"\n`,
  'alias.*': p =>
    `[alias]\n  rev-parse = "!${p}"\n  ls-tree = "!${p}"\n  cat-file = "!${p}"\n  config = "!${p}"\n`,
  'tar, trailer, submodule, browser, man, sendemail, imap': p =>
    `[tar "a"]\n  command = "${p}"\n[trailer "a"]\n  command = "${p}"\n  cmd = "${p}"\n[submodule "a"]\n  update = "!${p}"\n[browser "a"]\n  cmd = "${p}"\n[man "a"]\n  cmd = "${p}"\n[sendemail]\n  tocmd = "${p}"\n  ccCmd = "${p}"\n[imap]\n  tunnel = "${p}"\n[gc]\n  recentObjectsHook = "${p}"\n`,
  'include.path': p => `[include]\n  path = "${path.join(path.dirname(p), 'included')}"\n`,
  'core.worktree': p =>
    `[core]\n  worktree = "${path.dirname(p)}"\n  fsmonitor = "${p}"\n  hooksPath = "${path.dirname(p)}"\n`,
};

/**
 * The forms in which an unpacked archive or a clone can contain a repository; each function gives an
 * ordinary one that form.
 */
const REPOSITORY_FORMS = {
  'as .git': () => {},
  'as a bare folder': (folder: string) => {
    for (const name of readdirSync(path.join(folder, '.git'))) {
      renameSync(path.join(folder, '.git', name), path.join(folder, name));
    }
    rmSync(path.join(folder, '.git'), { recursive: true });
  },
  'behind a .git file': (folder: string) => {
    renameSync(path.join(folder, '.git'), path.join(folder, 'store'));
    writeFileSync(path.join(folder, '.git'), 'gitdir: store\n');
  },
  'as alternates of another': (folder: string) => {
    cpSync(path.join(folder, '.git/objects'), path.join(folder, 'objects-of-mine'), {
      recursive: true,
    });

    for (const name of readdirSync(path.join(folder, '.git/objects'))) {
      if (/^..$/u.test(name)) rmSync(path.join(folder, '.git/objects', name), { recursive: true });
    }

    mkdirSync(path.join(folder, '.git/objects/info'), { recursive: true });
    writeFileSync(path.join(folder, '.git/objects/info/alternates'), '../../objects-of-mine\n');
  },
};

let template = '';
let oldBlob = '';

beforeAll(() => {
  if (!isPosix) return;
  template = createRepository(mkdtempSync(path.join(tmpdir(), 'promptrun-template-')));
  oldBlob = runGit(template, 'rev-parse', 'HEAD~1:x.prompt').trim();
});

afterAll(() => {
  if (template !== '') rmSync(template, { recursive: true });
});

/** Creates a clone of the user that contains a repository of a stranger. */
function plantRepository(
  configuration: (p: string) => string,
  changeForm: (folder: string) => void,
): PlantedRepository {
  const home = createTemporaryDirectory();
  const folder = path.join(home, 'clone/vendor');
  cpSync(template, path.join(home, 'clone'), { recursive: true });
  cpSync(template, folder, { recursive: true });
  const marker = path.join(home, 'started');

  const p = writeProgram(path.join(home, 'clone/vendor/hooks-of-mine/p'), marker);
  for (const hook of [
    'reference-transaction',
    'post-index-change',
    'post-checkout',
    'fsmonitor-watchman',
  ]) {
    writeProgram(path.join(path.dirname(p), hook), marker);
    writeProgram(path.join(folder, '.git/hooks', hook), marker);
  }

  const remoteHelper = writeProgram(path.join(home, 'bin/git-remote-p'), marker);
  writeFileSync(
    path.join(path.dirname(p), 'included'),
    CONFIGURATIONS['remote.<name>.uploadpack']?.(p) ?? '',
  );
  writeFileSync(path.join(folder, '.gitattributes'), '* diff=a filter=a merge=a\n');
  mkdirSync(path.join(folder, '.git/info'));
  writeFileSync(path.join(folder, '.git/info/attributes'), '* diff=a filter=a merge=a\n');

  // Git fetches missing objects unless something forbids it.
  rmSync(path.join(folder, '.git/objects', oldBlob.slice(0, 2), oldBlob.slice(2)), { force: true });
  writeFileSync(path.join(folder, '.git/config'), configuration(p), { flag: 'a' });
  changeForm(folder);
  const env = { PATH: `${path.dirname(remoteHelper)}:${process.env['PATH'] ?? ''}` };

  return {
    home,
    isStarted: () => existsSync(marker),
    run: (...argv) => runInProcess(argv, { home, env, local: localService }),
  };
}

interface PlantedRepository {
  readonly home: string;
  readonly isStarted: () => boolean;
  readonly run: (...argv: string[]) => Promise<CommandResult>;
}

const MISSING_COMMIT = '0123456789012345678901234567890123456789';

const FETCHING_CONFIGURATIONS = Object.entries(CONFIGURATIONS).filter(([name]) =>
  /uploadpack|^ext|include/u.test(name),
);

// The planted programs are scripts of sh.
describe.runIf(isPosix).each([
  ['as .git', Object.entries(CONFIGURATIONS)],
  ['as a bare folder', FETCHING_CONFIGURATIONS],
  ['behind a .git file', FETCHING_CONFIGURATIONS],
  ['as alternates of another', FETCHING_CONFIGURATIONS],
] as const)('a repository planted %s', (form, configurations) => {
  it.each(configurations)('starts nothing by %s', async (_, configuration) => {
    const { run, isStarted } = plantRepository(configuration, REPOSITORY_FORMS[form]);
    for (const revision of ['HEAD', 'HEAD~1', MISSING_COMMIT]) {
      await run('prompts', 'render', `clone/vendor/x.prompt@git:${revision}`);
    }
    expect(isStarted()).toBe(false);
  });
});

it.runIf(isPosix)('refuses a folder that looks like a bare repository, and names it', async () => {
  const { run, home } = plantRepository(() => '', REPOSITORY_FORMS['as a bare folder']);
  const { exitCode, stderr } = await run('run', 'clone/vendor/x.prompt@git:HEAD');
  expect(stderr()).toContain(
    `${realpathSync.native(path.join(home, 'clone/vendor'))} looks like a bare git repository`,
  );
  expect(exitCode).toBe(EXIT.usage);
});
