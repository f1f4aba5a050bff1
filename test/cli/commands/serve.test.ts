import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import {
  createTemporaryDirectory,
  runInProcess,
  startInProcess,
  type TestOptions,
} from '../../support/context.ts';
import { buildServiceEnv } from '../../support/service-for-test.ts';

async function startServe(args: string[], options: TestOptions = {}) {
  const started = startInProcess(['serve', '--port', '0', '--grace', '0s', ...args], {
    local: localService,
    ...options,
  });
  await expect.poll(started.stdout).toContain('\n');

  const stop = async (signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM') => {
    started.raise(signal);
    return started.ended;
  };

  onTestFinished(async () => void (await stop()));
  return { ...started, baseUrl: /^listening on (\S+)\n/.exec(started.stdout())?.[1] ?? '', stop };
}

/** Creates a key of the service in this directory. */
async function createKey(home: string, ...flags: readonly string[]): Promise<string> {
  const argv = ['keys', 'create', ...flags];
  return (await runInProcess(argv, { home, local: localService })).stdout().trim();
}

describe('serve', () => {
  it('prints its address, a key on the first start, and the address of its page', async () => {
    const server = await startServe([]);
    await server.stop();
    const [address, key, page] = server.stdout().split('\n');
    expect(address).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(key).toMatch(/^key: pr_\S+$/);
    expect(page).toMatch(/^page: http:\/\/127\.0\.0\.1:\d+\/$/);
  });

  it('prints no key on later starts, but how to create another', async () => {
    const home = createTemporaryDirectory();
    await (await startServe([], { home })).stop();
    const server = await startServe([], { home });
    await server.stop();
    expect(server.stdout()).toMatch(/^listening on .*\npage: .*\n$/);
    expect(server.stderr()).toContain('To create another: promptrun keys create\n');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('exits with 0 on %s', async signal => {
    const server = await startServe([]);
    expect(await server.stop(signal)).toBe(0);
  });

  it('names the public URL for login, if it has one', async () => {
    const server = await startServe(['--public-url', 'https://prompts.example/team/']);
    await server.stop('SIGTERM');
    expect(server.stderr()).toContain('promptrun login --base-url https://prompts.example/team\n');
  });

  it('accepts the key that it printed', async () => {
    const server = await startServe([]);
    const findPrintedKey = (): string => /^key: (\S+)$/m.exec(server.stdout())?.[1] ?? '';
    await expect.poll(findPrintedKey).not.toBe('');
    const env = buildServiceEnv(server.baseUrl, findPrintedKey());
    expect((await runInProcess(['account', '--query', 'credits'], { env })).stdout()).toBe(
      '1000000\n',
    );
  });

  it.each([
    ['.', '--media-dir needs --database'],
    ['nowhere', '--media-dir: nowhere is not a directory'],
  ])('refuses --media-dir %s without a database', async (directory, message) => {
    const argv = ['serve', '--media-dir', directory];
    const { exitCode, stderr } = await runInProcess(argv, { local: localService });
    expect(stderr()).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('refuses to be replayed', async () => {
    const argv = ['serve', '--replay', 'recordings'];
    const { exitCode, stdout, stderr } = await runInProcess(argv, { local: localService });
    expect(stdout()).toBe('');
    expect(stderr()).toContain("serve can't be replayed");
    expect(exitCode).toBe(EXIT.usage);
  });

  it('publishes the prompts of a directory', async () => {
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'mine.prompt'), '---\nmodel: echo\n---\nHello.\n');
    const { stderr, baseUrl, stop } = await startServe(['--prompts', '.'], { home });
    const key = await createKey(home);
    const env = buildServiceEnv(baseUrl, key);
    const search = await runInProcess(['prompts', 'search', 'mine', '--query', '[0].slug'], {
      env,
    });
    expect(search.stdout()).toBe('mine\n');

    await stop();
    expect(stderr()).toContain('published mine');
  });

  it('logs each request and the end of each run without keys and signatures, and nothing with --quiet', async () => {
    const home = createTemporaryDirectory();
    const key = await createKey(home, '--user', 'ada');

    const serveAndReadLog = async (...flags: string[]): Promise<string[]> => {
      const { stderr, baseUrl, stop } = await startServe(flags, { home });
      const env = buildServiceEnv(baseUrl, key);
      const run = await runInProcess(['run', 'postcard', '-i', 'place=Oslo', '--save'], { env });

      expect(run.exitCode).toBe(0);

      await fetch(`${baseUrl}/me?secret=1`);
      await stop();
      return stderr()
        .split('\n')
        .filter(line => /^\d{4}-\d\d-\d\dT/.test(line));
    };

    const withoutTimes = (await serveAndReadLog()).map(line =>
      line
        .replace(/^2026-01-02T03:04:05\.\d{3}Z /, '')
        .replace(/ \d+ms$/, '')
        .replace(/[0-9a-f-]{36}/, '<id>'),
    );
    expect(withoutTimes.sort()).toEqual([
      '- GET /media/<id>.png 200',
      '- GET /v1/me 401',
      'ada GET /v1/prompts/publish 200',
      'ada POST /v1/runs 200',
      'ada run <id> succeeded',
    ]);
    expect(await serveAndReadLog('--quiet')).toEqual([]);
  });

  it('begins media URLs with --public-url, and accepts requests at its own address', async () => {
    const home = createTemporaryDirectory();
    const key = await createKey(home);
    const { baseUrl } = await startServe(['--public-url', 'https://prompts.example/team/'], {
      home,
    });
    const env = buildServiceEnv(baseUrl, key);
    const { stdout } = await runInProcess(['run', 'postcard', '-i', 'place=Oslo'], { env });

    expect(stdout()).toMatch(
      /^https:\/\/prompts\.example\/team\/media\/\S+\.png\?expires=\d+&signature=\S+\n$/,
    );
  });

  it('warns if other machines can reach it', async () => {
    const { stderr, stop } = await startServe(['--host', '0.0.0.0', '--quiet']);
    await stop();
    expect(stderr()).toMatch(/^warning: 0\.0\.0\.0 .*--public-url/);
  });

  it('says that a port is in use', async () => {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { exitCode, stderr } = await runInProcess(['serve', '--port', String(port)], {
      local: localService,
    });

    expect(stderr()).toMatch(
      new RegExp(`^error: .*${port}.* in use.*--port.*\\(NETWORK_ERROR\\)\\n$`),
    );
    expect(exitCode).toBe(EXIT.fault);
  });

  it.each([
    ['--port', '65536'],
    ['--port', 'http'],
    ['--port', '-1'],
    ['--host', 'http://x'],
    ['--sync-window', '2'],
    ['--grace', 'long'],
    ['--rate-limit', '0'],
    ['--rate-limit', 'x'],
    ['--public-url', 'prompts.example'],
    ['--public-url', 'ftp://prompts.example'],
    ['--public-url', 'https://ann:secret@prompts.example'],
    ['--public-url', 'https://prompts.example/?a=b'],
    ['--prompts', 'not-there'],
  ])('refuses %s %s before anything is started', async (flag, value) => {
    const { exitCode, stderr } = await runInProcess(['serve', `${flag}=${value}`]);
    expect(stderr()).toMatch(new RegExp(`^error: ${flag}: .*\\(USAGE_ERROR\\)`));
    expect(exitCode).toBe(EXIT.usage);
  });
});
