import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import {
  runInProcess,
  startInProcess,
  type TestOptions,
  temporaryDirectory,
} from '../../support/context.ts';

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

describe('serve', () => {
  it('prints its address first, then a key on the first start only, and exits 0 on a signal', async () => {
    const home = temporaryDirectory();
    const first = await startServe([], { home });

    expect(first.stdout()).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\/v1\n/);
    expect(await first.stop('SIGINT')).toBe(0);
    expect(first.stdout()).toMatch(
      /^listening on .*\nkey: pr_\S+\npage: http:\/\/127\.0\.0\.1:\d+\/\n$/,
    );

    const second = await startServe([], { home });
    expect(await second.stop('SIGTERM')).toBe(0);
    expect(second.stdout()).toMatch(/^listening on .*\npage: http:\/\/127\.0\.0\.1:\d+\/\n$/);
    expect(second.stderr()).toContain('To create another: promptrun keys create\n');
  });

  it('names the public URL for login, if it has one', async () => {
    const server = await startServe(['--public-url', 'https://prompts.example/team/']);
    await server.stop('SIGTERM');
    expect(server.stderr()).toContain('promptrun login --base-url https://prompts.example/team\n');
  });

  it('accepts the key that it printed', async () => {
    const server = await startServe([]);
    const printedKey = (): string => /^key: (\S+)$/m.exec(server.stdout())?.[1] ?? '';
    await expect.poll(printedKey).not.toBe('');
    const env = { PROMPTRUN_BASE_URL: server.baseUrl, PROMPTRUN_API_KEY: printedKey() };
    expect((await runInProcess(['account', '--query', 'credits'], { env })).stdout()).toBe(
      '1000000\n',
    );
  });

  it('keeps media apart only for a database that instances share', async () => {
    const refused = await runInProcess(['serve', '--media-dir', '.'], { local: localService });
    expect(refused.exitCode).toBe(EXIT.usage);
    expect(refused.stderr()).toContain('--media-dir needs --database');
    const missing = await runInProcess(['serve', '--media-dir', 'nowhere'], {
      local: localService,
    });
    expect(missing.stderr()).toContain('--media-dir: nowhere is not a directory');
  });

  it("can't be replayed, and the error says so", async () => {
    const refused = await runInProcess(['serve', '--replay', 'recordings'], {
      local: localService,
    });
    expect(refused.stdout()).toBe('');
    expect(refused.exitCode).toBe(EXIT.usage);
    expect(refused.stderr()).toContain("serve can't be replayed");
  });

  it('publishes the prompts of a directory', async () => {
    const home = temporaryDirectory();
    writeFileSync(path.join(home, 'mine.prompt'), '---\nmodel: echo\n---\nHello.\n');
    const { stderr, baseUrl, stop } = await startServe(['--prompts', '.'], { home });
    const key = (await runInProcess(['keys', 'create'], { home, local: localService }))
      .stdout()
      .trim();
    const env = { PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: key };
    const found = await runInProcess(['prompts', 'search', 'mine', '--query', '[0].slug'], { env });

    expect(found.stdout()).toBe('mine\n');

    await stop();
    expect(stderr()).toContain('mine');
  });

  it('logs each request and the end of each run in a line, without keys or signatures, and nothing with --quiet', async () => {
    const home = temporaryDirectory();
    const key = (
      await runInProcess(['keys', 'create', '--user', 'ada'], { home, local: localService })
    )
      .stdout()
      .trim();

    const serveAndReadLog = async (...flags: string[]): Promise<string[]> => {
      const { stderr, baseUrl, stop } = await startServe(flags, { home });
      const env = { PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: key };
      const run = await runInProcess(['run', 'postcard', '-i', 'place=Oslo', '--save'], { env });

      expect(run.exitCode).toBe(0);

      await fetch(`${baseUrl}/me?secret=1`);
      await stop();
      return stderr()
        .split('\n')
        .filter(line => line.startsWith('2026-'));
    };

    const time = String.raw`2026-01-02T03:04:05\.\d{3}Z`;
    const log = await serveAndReadLog();

    expect(log).toHaveLength(5);

    for (const line of [
      'ada GET /v1/prompts/publish 200',
      'ada POST /v1/runs 200',
      'ada run [0-9a-f-]{36} succeeded',
      String.raw`- GET /media/[0-9a-f-]{36}\.png 200`,
      '- GET /v1/me 401',
    ]) {
      expect(log).toContainEqual(
        expect.stringMatching(new RegExp(String.raw`^${time} ${line} \d+ms$`)),
      );
    }

    expect(await serveAndReadLog('--quiet')).toEqual([]);
  });

  it('begins media URLs with --public-url and takes requests under its name', async () => {
    const home = temporaryDirectory();
    const key = (await runInProcess(['keys', 'create'], { home, local: localService }))
      .stdout()
      .trim();
    const { baseUrl } = await startServe(['--public-url', 'https://prompts.example/team/'], {
      home,
    });
    const env = { PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: key };
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

  it('says that a port is taken', async () => {
    const taken = createServer();
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
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
