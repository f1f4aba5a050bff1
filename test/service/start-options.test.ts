import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/service/store/sqlite/binding.ts';
import type { PromptSearchResult, Resources, Run } from '../../src/wire/index.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { HandClock } from '../support/hand-clock.ts';
import { TestService } from '../support/local-service.ts';

let service: TestService;
afterEach(() => service.close());

const search = (words: string) =>
  service
    .data<PromptSearchResult>(`/prompts/publish?q=${words}`)
    .then(({ rows }) => rows.map(row => row.slug));

describe('a directory of prompts', () => {
  const moveIntoPlace = (directory: string, name: string, text: string): void => {
    // Like editors, writes a file beside it and moves it into place.
    writeFileSync(path.join(directory, `.${name}.part`), text);
    renameSync(path.join(directory, `.${name}.part`), path.join(directory, name));
  };

  test('is published before the service listens; later changes are published too', async () => {
    const promptsDir = createTemporaryDirectory();
    moveIntoPlace(promptsDir, 'tide.prompt', 'The tide');
    service = await TestService.start({ promptsDir });

    expect(await search('tide')).toEqual(['tide']);

    const first = await service.versionOf('tide');
    expect(service.notices).toContain(`published tide as ${first}`);

    moveIntoPlace(promptsDir, 'tide.prompt', 'The tide turns');
    await expect.poll(() => service.versionOf('tide')).not.toBe(first);

    moveIntoPlace(promptsDir, 'ebb.prompt', 'The ebb');
    await expect.poll(() => search('ebb')).toEqual(['ebb']);
  });

  test("names file and line of what can't be published, and publishes the rest", async () => {
    const promptsDir = createTemporaryDirectory();
    moveIntoPlace(promptsDir, 'bad.prompt', '---\nmodel: nobody\n---\nHi');
    moveIntoPlace(promptsDir, 'good.prompt', 'model: echo\n---\nHi');
    service = await TestService.start({ promptsDir });

    expect(await search('good')).toEqual(['good']);
    expect(service.notices.join('\n')).toContain(
      'good.prompt lacks the line --- before its front matter',
    );
    expect(service.notices.join('\n')).toMatch(
      /^not published: .*bad\.prompt:2: the model `nobody` does not exist/m,
    );
  });

  test('is published once the disk of the store has room', async () => {
    const promptsDir = createTemporaryDirectory();
    const clock = new HandClock();
    service = await TestService.start({ promptsDir, clock });
    const database = await openSqlite(path.join(service.dataDir, 'promptrun.db'));
    database.exec(
      "create trigger full before insert on prompts begin select raise(abort, 'database or disk is full'); end",
    );
    moveIntoPlace(promptsDir, 'tide.prompt', 'The tide');
    await clock.waitForSleep(5000);

    await expect.poll(() => service.notices.at(-1)).toBe('not published: database or disk is full');

    clock.advance(5000);
    await clock.waitForSleep(5000);
    database.exec('drop trigger full');
    database.close();
    clock.advance(5000);

    await expect.poll(() => search('tide')).toEqual(['tide']);
  });

  test('keeps a prompt published if its file is removed', async () => {
    const promptsDir = createTemporaryDirectory();
    moveIntoPlace(promptsDir, 'kept.prompt', 'Kept');
    service = await TestService.start({ promptsDir });
    rmSync(path.join(promptsDir, 'kept.prompt'));
    moveIntoPlace(promptsDir, 'later.prompt', 'Later');
    await expect.poll(() => search('later')).toEqual(['later']);
    expect(await search('kept')).toEqual(['kept']);
  });
});

describe('models that change', () => {
  test('change the hash, and clients with the old one are asked to refresh', async () => {
    service = await TestService.start();
    const { hash } = await service.data<Resources>('/resources');
    const headers = { 'cli-agent': hash };

    expect((await service.get('/me', { headers })).headers.has('action-require')).toBe(false);

    writeFileSync(
      path.join(service.dataDir, 'models.yaml'),
      'providers: {p: {baseUrl: "http://127.0.0.1:1/v1"}}\nmodels: [{model: bard, modality: text, provider: p}]\n',
    );
    await expect
      .poll(async () => (await service.data<Resources>('/resources')).hash)
      .not.toBe(hash);
    expect((await service.get('/me', { headers })).headers.has('action-require')).toBe(true);

    const { resources } = await service.data<Resources>('/resources');
    expect(resources.models.map(({ model }) => model)).toEqual([
      'echo',
      'card',
      'clip',
      'sandbox',
      'bard',
    ]);
  });

  test("a models file that can't be read is reported, and the other models stay", async () => {
    service = await TestService.start();
    writeFileSync(path.join(service.dataDir, 'models.yaml'), 'models: 5\n');
    await expect.poll(() => service.notices.join('\n')).toContain('models.yaml:1: ');
    expect((await service.data<Resources>('/resources')).resources.models).toHaveLength(4);
  });
});

describe('the address', () => {
  test('is loopback by default, without a warning', async () => {
    service = await TestService.start();
    expect(service.service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(service.notices).toEqual([]);
  });

  test('causes a warning if others can reach it, and pictures have the address that the caller used', async () => {
    service = await TestService.start({ host: '0.0.0.0' });
    const { port } = new URL(service.service.url);

    expect(service.notices).toEqual([
      expect.stringContaining('0.0.0.0 is reachable from other machines'),
    ]);

    const promptVersionId = await service.versionOf('postcard');
    const answer = await fetch(`http://127.0.0.1:${port}/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}` },
      body: JSON.stringify({ promptVersionId, inputs: { textInputs: { place: 'Oslo' } } }),
    });
    const { data } = (await answer.json()) as { data: Run };

    expect(data.outputs[0]?.data).toContain(`http://127.0.0.1:${port}/media/`);
  });

  const hasIpv6 = Object.values(networkInterfaces()).some(each =>
    each?.some(({ address }) => address === '::1'),
  );
  test.runIf(hasIpv6)('is an IPv6 address in brackets', async () => {
    service = await TestService.start({ host: '::1' });
    expect(service.service.url).toMatch(/^http:\/\/\[::1\]:\d+\/v1$/);
    expect((await service.get('/me')).http).toBe(200);
    expect(service.notices).toEqual([]);
  });
});
