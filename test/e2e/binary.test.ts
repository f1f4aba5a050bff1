import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { COMMAND, runCommand } from '../support/command.ts';

const root = path.resolve(import.meta.dirname, '../..');
const CHROOT = '/usr/sbin/chroot';

/** Somebody who owns nothing else on this machine. */
const USER = 65_534;

/** The C library's parts and the C++ runtime, by the names that their names begin with. */
const ALLOWED = /^(?:ld-linux|libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s)[.-]/u;

const NATIVE = ['@resvg/resvg-js-linux-x64-gnu', '@napi-rs/keyring-linux-x64-gnu'];

/**
 * Returns true if this machine has the Node that the executable is made of, and what an empty root
 * needs.
 */
function canTest(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64' || process.getuid?.() !== 0) {
    return false;
  }

  const device = path.join(root, 'node_modules', `.null-${process.pid}`);
  const canMakeRoot =
    spawnSync('mknod', [device, 'c', '1', '3']).status === 0 && existsSync(CHROOT);
  rmSync(device, { force: true });
  const script =
    "import('./scripts/binary/base-node.js').then(({ findBaseNode }) => findBaseNode())";
  const hasNode = spawnSync(process.execPath, ['-e', script], { cwd: root }).status === 0;
  if (canMakeRoot && hasNode) return true;

  const why = canMakeRoot
    ? 'its Node is not installed, and npm cannot install it'
    : 'no empty root can be made here';
  process.stderr.write(`The tests of the single executable are skipped: ${why}.\n`);
  return false;
}

function listTourLines(): string[] {
  const tour = readFileSync(path.join(root, 'README.md'), 'utf8').split('\n## The tour\n')[1] ?? '';
  const blocks = (tour.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```/gu);
  return [...blocks].flatMap(([, block = '']) => block.trim().split('\n'));
}

function splitWords(line: string): string[] {
  return (line.match(/"[^"]*"|[^\s"]+/gu) ?? []).map(word => word.replaceAll('"', ''));
}

function listLibraries(file: string): string[] {
  return [...execFileSync('ldd', [file], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/gu)].map(
    ([, library = '']) => library,
  );
}

/**
 * Returns everything below a folder, with facts that distinguish a written file from an untouched
 * one.
 */
function listFileStates(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => {
      const { ino, mtimeMs, mode } = statSync(path.join(folder, name));
      return `${name} ${ino} ${mtimeMs} ${(mode & 0o777).toString(8)}`;
    })
    .toSorted();
}

describe.skipIf(!canTest())('the single executable', () => {
  let place: string;
  let built: string;
  let executable: string;
  let home: string;

  beforeAll(() => {
    // Temporary folders may lie where no device and no program is allowed.
    const cache = path.join(root, 'node_modules/.cache');
    mkdirSync(cache, { recursive: true });
    place = mkdtempSync(path.join(cache, 'binary-test-'));
    built = path.join(place, 'binary');
    execFileSync(process.execPath, ['scripts/binary/build.js', built], {
      cwd: root,
      stdio: 'ignore',
    });
    executable = path.join(built, 'promptrun');
  }, 300_000);

  afterAll(() => rmSync(place, { recursive: true, force: true }));

  /** An empty root of the user's: the executable, the libraries, and a /dev/null. */
  beforeEach(() => {
    home = mkdtempSync(path.join(place, 'root-'));
    mkdirSync(path.join(home, 'dev'));
    execFileSync('mknod', ['-m', '666', path.join(home, 'dev/null'), 'c', '1', '3']);
    const natives = NATIVE.flatMap(name => {
      const folder = path.join(root, 'node_modules', name);
      return readdirSync(folder).flatMap(file =>
        file.endsWith('.node') ? [path.join(folder, file)] : [],
      );
    });

    for (const library of new Set([executable, ...natives].flatMap(listLibraries))) {
      expect(path.basename(library)).toMatch(ALLOWED);
      const copy = path.join(home, library);
      mkdirSync(path.dirname(copy), { recursive: true });
      copyFileSync(realpathSync(library), copy);
    }

    linkSync(executable, path.join(home, 'promptrun'));
    mkdirSync(path.join(home, 'home'));
    for (const folder of ['', 'home']) chownSync(path.join(home, folder), USER, USER);
    chmodSync(home, 0o755);
  });

  const runBinary = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { status, stdout, stderr } = spawnSync(
      CHROOT,
      [`--userspec=${USER}:${USER}`, home, '/promptrun', ...args],
      { env: { HOME: '/home', ...env }, encoding: 'utf8', timeout: 120_000 },
    );
    return { code: status, stdout, stderr };
  };

  const runPostcard = (env?: Readonly<Record<string, string>>) =>
    runBinary(['run', 'postcard', '-i', 'place=Oslo', '-i', 'mood=rainy', '--save'], env);

  const listUnpackedIn = (folder: string): string[] =>
    readdirSync(path.join(home, folder), { recursive: true, encoding: 'utf8' }).map(name =>
      path.join(home, folder, name),
    );

  it('is one file, and no part of the package', () => {
    expect(readdirSync(built)).toEqual(['promptrun']);
    expect(statSync(executable).mode & 0o777).toBe(0o755);
    expect(statSync(executable).size).toBeLessThan(160_000_000);

    const { files } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      files: string[];
    };
    expect(files).not.toContain('binary');
    expect(existsSync(path.join(root, 'node_modules/.bin/node'))).toBe(false);
  });

  it('prints version, help, guides and completion like the package, and writes nothing', async () => {
    const before = listFileStates(home);
    for (const args of [
      ['--version'],
      ['--help'],
      ['run', '--help'],
      ['help', 'batch'],
      ['help', 'exit-codes'],
      ['completion', 'zsh'],
      ['__complete', 'bash', '--', 'promptrun ru'],
    ]) {
      const { code, stdout } = runBinary(args);
      const ofPackage = await runCommand(args);
      expect(stdout, args.join(' ')).toBe(ofPackage.stdout);
      expect(code, args.join(' ')).toBe(ofPackage.code);
    }
    expect(listFileStates(home)).toEqual(before);
  });

  it("takes the README's whole tour without Node, /proc, a PATH or anything else", () => {
    const lines = listTourLines();
    expect(lines.length).toBeGreaterThanOrEqual(10);

    for (const line of lines) {
      const [program, ...args] = splitWords(line);
      if (program === 'promptrun') {
        const { code, stderr } = runBinary(args);
        expect(stderr, line).toEqual(expect.any(String));
        expect(code, line).toBe(0);
      } else {
        writeFileSync(path.join(home, 'names.csv'), 'name\nAda\nGrace\n');
      }
    }

    const [picture = ''] = readdirSync(home).filter(name => name.endsWith('.png'));
    expect(readFileSync(path.join(home, picture)).subarray(1, 4).toString()).toBe('PNG');
    expect(readFileSync(path.join(home, 'results.jsonl'), 'utf8').trim().split('\n')).toHaveLength(
      2,
    );

    const { stdout } = runBinary(['uninstall', '--dry-run']);
    expect(stdout).toMatch(/^\/home\/\.cache\/promptrun\/[0-9a-f]{64}\tunpacked parts/mu);
  }, 180_000);

  it('carries out runs and checks in separate processes', () => {
    const { stdout } = runBinary(['run', 'sandbox', '--no-wait']);
    expect(runBinary(['runs', 'wait', stdout.trim()]).code).toBe(0);
    writeFileSync(
      path.join(home, 'a.test.yaml'),
      'target: hello\ncases:\n  - inputs: { name: Ada }\n    expect: { javascript: "output.length > 3" }\n',
    );
    expect(runBinary(['test', 'a.test.yaml'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 passed'),
    });
  });

  it('unpacks once, into folders that are the user’s alone', () => {
    expect(runPostcard()).toMatchObject({ code: 0 });

    const cache = path.join(home, 'home/.cache/promptrun');
    const folders = readdirSync(cache);

    expect(folders.length).toBeGreaterThan(0);

    for (const folder of folders) {
      expect(folder).toMatch(/^[0-9a-f]{64}$/u);
      expect(statSync(path.join(cache, folder)).mode & 0o777).toBe(0o700);
    }

    const before = listFileStates(cache);
    expect(runPostcard()).toMatchObject({ code: 0 });
    expect(listFileStates(cache)).toEqual(before);
  });

  it.each([
    ['cut off', (file: string) => truncateSync(file, 1000)],
    [
      'changed in one bit',
      (file: string) => {
        const bytes = readFileSync(file);
        writeFileSync(file, bytes.with(5000, (bytes.at(5000) ?? 0) ^ 1));
      },
    ],
    ['gone', (file: string) => rmSync(file)],
  ])('writes a file that is %s again, and closes its folder', (_, damage) => {
    runPostcard();
    const files = listUnpackedIn('home/.cache/promptrun').filter(file => statSync(file).isFile());
    const whole = files.map(file => readFileSync(file));

    for (const file of files) {
      damage(file);
      chmodSync(path.dirname(file), 0o755);
    }

    expect(runPostcard()).toMatchObject({ code: 0 });

    for (const [index, file] of files.entries()) {
      expect(readFileSync(file).equals(whole[index] ?? Buffer.alloc(0))).toBe(true);
      expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    }
  });

  it('unpacks below the temporary folder if the cache cannot be written, and names both if neither can', () => {
    mkdirSync(path.join(home, 'tmp'));
    chmodSync(path.join(home, 'tmp'), 0o1777);
    const env = { XDG_CACHE_HOME: '/dev/null/cache', TMPDIR: '/tmp' };

    expect(runPostcard(env)).toMatchObject({ code: 0 });

    const own = path.join(home, 'tmp', `promptrun-${USER}`);
    expect(statSync(own).mode & 0o777).toBe(0o700);

    // Another user's folder of that name is not used.
    chownSync(own, 0, 0);
    chmodSync(own, 0o777);
    const { code, stderr } = runPostcard(env);

    expect(code).toBe(EXIT.runFailed);
    expect(stderr).toContain('/dev/null/cache/promptrun');
    expect(stderr).toContain(`/tmp/promptrun-${USER} belongs to another user`);
  });

  it('loads nothing that lies beside it or in the working directory', () => {
    const evil = "throw new Error('loaded what is not mine')\n";
    const names = [
      'main.cjs',
      'binary.cjs',
      'prompt-worker.cjs',
      'check-worker.cjs',
      'run-process.cjs',
    ];

    const modules = [
      'node_modules/@resvg/resvg-js/index.js',
      'node_modules/@napi-rs/keyring/index.js',
    ];
    for (const name of [
      ...names,
      ...names.map(file => `dist/${file}`),
      ...modules,
      'resvgjs.node',
    ]) {
      mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
      writeFileSync(path.join(home, name), evil);
    }

    writeFileSync(path.join(home, 'package.json'), 'not JSON');
    for (const folder of ['docs', 'completions']) mkdirSync(path.join(home, folder));
    writeFileSync(path.join(home, 'completions/promptrun.bash'), 'evil');
    writeFileSync(path.join(home, 'docs/batch.md'), 'evil');

    expect(runPostcard()).toMatchObject({ code: 0 });
    expect(runBinary(['run', 'sandbox', '--no-wait'])).toMatchObject({ code: 0 });
    expect(runBinary(['completion', 'bash']).stdout).not.toContain('evil');
    expect(runBinary(['help', 'batch']).stdout).not.toContain('evil');
  });

  it('is the ordinary command if a user sets the variable of its own processes', () => {
    const { code, stdout } = runBinary(['--version'], {
      PROMPTRUN_INTERNAL_FILE: 'run-process.cjs',
    });
    expect(stdout).toBe(
      execFileSync(process.execPath, [COMMAND, '--version'], { encoding: 'utf8' }),
    );
    expect(code).toBe(0);
  });

  it("obeys NODE_OPTIONS, as the package's Node does", () => {
    expect(runBinary(['--version'], { NODE_OPTIONS: '--no-such-option' }).code).toBe(9);
  });
});
