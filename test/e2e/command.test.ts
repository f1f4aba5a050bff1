import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { COMMAND, runCommand, startCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { buildCommandEnvironment } from '../support/environment.ts';
import { isPosix } from '../support/system.ts';

const packageJson = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'),
) as { version: string };

describe('the command', () => {
  it('prints its version', async () => {
    const { stdout, stderr, code } = await runCommand(['--version']);
    expect(stdout).toBe(`${packageJson.version}\n`);
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it.each([
    [['--help']],
    [['--version']],
    [['run', '--help']],
    [['completion', 'bash']],
    [['help', 'environment']],
  ])('writes nothing to disk for %j', async args => {
    const { code, home } = await runCommand(args);
    expect(readdirSync(home)).toEqual([]);
    expect(code).toBe(0);
  });

  it.runIf(isPosix)(
    'reports a working directory that was removed, and prints its version there',
    async () => {
      const script = 'mkdir gone && cd gone && rmdir ../gone && "$0" "$@"';
      const run = (...words: string[]): Promise<{ stdout: string }> =>
        promisify(execFile)('sh', ['-c', script, process.execPath, COMMAND, ...words], {
          cwd: createTemporaryDirectory(),
          env: buildCommandEnvironment(createTemporaryDirectory()),
        });

      expect((await run('--version')).stdout).toBe(`${packageJson.version}\n`);
      await expect(run('run', 'hello', '-i', 'name=Ada')).rejects.toMatchObject({
        code: EXIT.usage,
        stderr: expect.stringMatching(
          /^error: the working directory no longer exists \(FILE_ERROR\)\n/,
        ),
      });
    },
  );

  it('works at once, with a note on which service it uses', async () => {
    const { stdout, stderr, code, home } = await runCommand(['run', 'hello', '-i', 'name=Ada']);
    expect(stdout).toMatch(/^.*Ada.*\n$/);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^.*\bprofile local\b.*\n$/);
    const quiet = await runCommand(['run', 'hello', '-i', 'name=Ada', '--quiet'], { home });
    expect([quiet.stdout, quiet.stderr]).toEqual([stdout, '']);
  });

  it('reaches the embedded service whatever the proxy', async () => {
    const env = { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9' };
    const { code } = await runCommand(['account'], { env });
    expect(code).toBe(0);
  });

  it('reports a proxy that is not a URL, once', async () => {
    const env = {
      PROMPTRUN_BASE_URL: 'https://prompts.example/v1',
      PROMPTRUN_API_KEY: 'key',
      HTTPS_PROXY: '::none',
    };
    const { code, stderr } = await runCommand(['versions', 'list', 'some-prompt'], { env });
    expect(code).toBe(EXIT.usage);
    expect(stderr.match(/error:/g)).toHaveLength(1);
  });

  it('never ends with 0 before its work is done', async () => {
    const preload = path.join(createTemporaryDirectory(), 'preload.cjs');
    writeFileSync(
      preload,
      "const { Socket } = require('node:net'); const { connect } = Socket.prototype;\n" +
        'Socket.prototype.connect = function (...to) { return connect.apply(this, to).unref(); };\n',
    );

    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const env = { PROMPTRUN_BASE_URL: `http://127.0.0.1:${port}/v1`, PROMPTRUN_API_KEY: 'key' };
    const { code, stderr } = await runCommand(['api', 'GET', '/runs'], {
      env,
      nodeArgs: ['--require', preload],
    });

    expect(stderr).toMatch(/^error: promptrun ended before its work was done.*INTERNAL_ERROR/m);
    expect(code).toBe(EXIT.fault);
  });

  it('does not wait for a standard input that nobody asked for', async () => {
    const running = startCommand(['config', 'list'], { stdin: { open: true } });
    expect((await running.ended).code).toBe(0);
  });

  it.runIf(isPosix)('ends quietly when its reader goes', async () => {
    const script =
      'set -o pipefail; node "$0" run --help | head -c 10; node "$0" models --json | true; echo " ${PIPESTATUS[0]}"';
    const home = createTemporaryDirectory();
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script, COMMAND], {
      env: buildCommandEnvironment(home, { PROMPTRUN_CONFIG_DIR: home }),
    });
    expect([stdout, stderr.replace(/^Using .*\n/, '')]).toEqual(['Usage: pro 0\n', '']);
  });
});

it.runIf(isPosix)('a long result of a run may be read in part', async () => {
  const home = createTemporaryDirectory();
  writeFileSync(path.join(home, 'long.txt'), 'å'.repeat(200_000));
  const script =
    'set -o pipefail; node "$0" run hello -i name=@long.txt | head -c 9; echo " ${PIPESTATUS[0]}"';
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script, COMMAND], {
    cwd: home,
    env: buildCommandEnvironment(home),
  });

  expect([stdout, stderr.replace(/^Using .*\n/, '')]).toEqual(['Hello, å 0\n', '']);
});

describe('signals', () => {
  it.runIf(isPosix).each([
    ['SIGINT', 130, 'interrupted'],
    ['SIGTERM', 143, 'terminated'],
  ] as const)('%s ends a command that waits for the service', async (signal, code, word) => {
    const args = ['run', 'sandbox', '-o', 'delaySeconds=30', '--no-validate', '--debug'];
    const { child, ended, untilStderr } = startCommand(args, { stdin: { open: true } });
    await untilStderr(/debug: POST /);
    child.kill(signal);
    const stderr = expect.stringMatching(
      new RegExp(`^error: ${word}\\b.* \\(INTERRUPTED\\)$`, 'm'),
    ) as string;

    expect(await ended).toMatchObject({ code, signal: null, stdout: '', stderr });
  });

  it.runIf(isPosix)('ends serving well', async () => {
    const { child, ended, untilStdout } = startCommand(['serve', '--port', '0']);
    await untilStdout(/^listening on http:\/\/127\.0\.0\.1:\d+\/v1\n/);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });
});

describe('settings', () => {
  it('lose nothing when several processes write at once', async () => {
    const home = createTemporaryDirectory();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const codes = await Promise.all(
      names.map(name => runCommand(['alias', 'set', name, 'x'], { home })),
    );

    expect(codes.map(({ code }) => code)).toEqual(names.map(() => 0));

    const { stdout } = await runCommand(['alias', 'list', '--query', '[].name'], { home });
    expect(JSON.parse(stdout)).toEqual(names);
    expect(readdirSync(path.join(home, 'config'))).toEqual(['config.json']);
  });
});
