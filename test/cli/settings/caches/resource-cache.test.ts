import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  computeResourceScope,
  type FetchLimits,
  ResourceCache,
} from '../../../../src/cli/settings/caches/resource-cache.ts';
import type { Resources } from '../../../../src/wire/index.ts';
import { createTemporaryDirectory, TEST_NOW, testClock } from '../../../support/context.ts';
import { isPosix } from '../../../support/system.ts';

const BASE = 'https://prompts.example/v1';

const MODEL = {
  model: 'm',
  modality: 'text',
  availableRunOptions: [{ key: 'size', options: ['big'] }],
  new: 1,
};

function answer(hash: string, models: unknown[] = [MODEL]): Resources {
  return { hash, resources: { models } } as Resources;
}

/** Returns a cache whose fetches are scripted, and its requests. */
function cacheIn(
  directory: string,
  script: (Resources | Error)[],
  key = 'key',
  clock = testClock(),
): { cache: ResourceCache; fetchLimits: FetchLimits[]; problems: string[] } {
  const fetchLimits: FetchLimits[] = [];
  const problems: string[] = [];
  const cache: ResourceCache = new ResourceCache({
    directory,
    scope: computeResourceScope(BASE, key),
    clock,
    onProblem: problem => problems.push(problem),
    fetch: limits => {
      fetchLimits.push(limits);
      const next = script.shift() ?? new Error('not in the script');
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
  });
  return { cache, fetchLimits, problems };
}

describe('the cache of models', () => {
  it('is empty at first, and filled when the models are first requested', async () => {
    const { cache, fetchLimits } = cacheIn(createTemporaryDirectory(), [answer('h1')]);
    expect(cache.getCliAgent()).toBeUndefined();
    expect(await cache.getModels()).toEqual([MODEL]);
    expect(await cache.getModels()).toEqual([MODEL]);
    expect(cache.getCliAgent()).toBe('h1');
    expect(fetchLimits).toHaveLength(1);
  });

  it.runIf(isPosix)('is stored for the next process, readable by its owner only', async () => {
    const directory = createTemporaryDirectory();
    await cacheIn(directory, [answer('h1')]).cache.refresh();
    const { cache, fetchLimits } = cacheIn(directory, []);

    expect(cache.getCliAgent()).toBe('h1');
    expect(await cache.getModels()).toEqual([MODEL]);
    expect(cache.getCached()?.fetchedAt).toBe(new Date(TEST_NOW).toISOString());
    expect(fetchLimits).toEqual([]);
    expect(statSync(path.join(directory, 'resources.json')).mode & 0o777).toBe(0o600);
  });

  it('is shared neither between accounts nor between services, and reveals no key', async () => {
    const directory = createTemporaryDirectory();
    await cacheIn(directory, [answer('of-a')], 'key-a').cache.refresh();

    expect(cacheIn(directory, [], 'key-b').cache.getCliAgent()).toBeUndefined();

    await cacheIn(directory, [answer('of-b')], 'key-b').cache.refresh();
    expect(cacheIn(directory, [], 'key-a').cache.getCliAgent()).toBe('of-a');
    expect(computeResourceScope('https://a/v1', 'k')).not.toBe(
      computeResourceScope('https://b/v1', 'k'),
    );
    expect(readFileSync(path.join(directory, 'resources.json'), 'utf8')).not.toContain('key-');
  });

  it('is filled once for all requests at the same time', async () => {
    const directory = createTemporaryDirectory();
    const keys = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(
      keys.map(key => cacheIn(directory, [answer(`of-${key}`)], key).cache.refresh()),
    );
    expect(keys.map(key => cacheIn(directory, [], key).cache.getCliAgent())).toEqual(
      keys.map(key => `of-${key}`),
    );
  });

  it('holds a limited number of services', async () => {
    const directory = createTemporaryDirectory();
    for (let index = 0; index < 25; index += 1) {
      await cacheIn(directory, [answer(`h${index}`)], `key${index}`).cache.refresh();
    }
    expect(cacheIn(directory, [], 'key24').cache.getCliAgent()).toBe('h24');
    expect(cacheIn(directory, [], 'key0').cache.getCliAgent()).toBeUndefined();
  });

  it.each(['{"services":[', 'null', '[]', '{"services":[{"scope":1}]}', ''])(
    'is fetched again if its file is damaged: %j',
    async damage => {
      const directory = createTemporaryDirectory();
      writeFileSync(path.join(directory, 'resources.json'), damage);
      const { cache } = cacheIn(directory, [answer('h1')]);
      expect(cache.getCliAgent()).toBeUndefined();
      expect(await cache.getModels()).toEqual([MODEL]);
      expect(cacheIn(directory, []).cache.getCliAgent()).toBe('h1');
    },
  );

  it('does not prevent the use of models if it cannot be written', async () => {
    const directory = createTemporaryDirectory();
    writeFileSync(path.join(directory, 'file'), '');
    const { cache, problems } = cacheIn(path.join(directory, 'file'), [answer('h1')]);
    expect(await cache.getModels()).toEqual([MODEL]);
    expect(cache.getCliAgent()).toBe('h1');
    expect(problems).toHaveLength(1);
  });

  it('never sends a malformed hash in a header', async () => {
    const { cache } = cacheIn(createTemporaryDirectory(), [answer('h\r\nx-evil: 1')]);
    await cache.refresh();
    expect(cache.getCliAgent()).toBeUndefined();
  });

  it('leaves out models that are malformed', async () => {
    const odd = [
      null,
      7,
      { model: 3 },
      { model: 'x' },
      { model: 'y', availableRunOptions: [{ key: 'k' }, { key: 'l', options: [1, 'a'] }] },
    ];
    const { cache } = cacheIn(createTemporaryDirectory(), [answer('h', odd)]);
    expect(await cache.getModels()).toEqual([
      { model: 'x', availableRunOptions: [] },
      { model: 'y', availableRunOptions: [{ key: 'l', options: ['a'] }] },
    ]);
  });
});

describe('a refresh that the service asks for', () => {
  it('happens once at the end of the command, in one try of at most 5 s', async () => {
    const { cache, fetchLimits } = cacheIn(createTemporaryDirectory(), [
      answer('h1'),
      answer('h2'),
    ]);
    await cache.refresh();
    cache.recordActionRequired();
    cache.recordActionRequired();

    expect(fetchLimits).toHaveLength(1);

    await cache.refreshIfRequested();
    await cache.refreshIfRequested();

    expect(fetchLimits.slice(1)).toEqual([
      { timeoutMs: 5000, retries: 0, signal: expect.any(AbortSignal) as AbortSignal },
    ]);
    expect(cache.getCliAgent()).toBe('h2');
  });

  it('does not happen without a request for it', async () => {
    const { cache, fetchLimits } = cacheIn(createTemporaryDirectory(), []);
    await cache.refreshIfRequested();
    expect(fetchLimits).toEqual([]);
  });

  it('does not happen if the command has fetched the models since', async () => {
    const { cache, fetchLimits } = cacheIn(createTemporaryDirectory(), [answer('h1')]);
    cache.recordActionRequired();
    await cache.refresh();
    await cache.refreshIfRequested();
    expect(fetchLimits).toHaveLength(1);
  });

  it('changes the form of the header if the service returns the hash that it was sent', async () => {
    const directory = createTemporaryDirectory();
    const clock = testClock();
    const runWithScript = async (...script: Resources[]): Promise<string | undefined> => {
      const fetches = script.length;
      const { cache, fetchLimits } = cacheIn(directory, script, 'key', clock);
      const sent = cache.getCliAgent();
      cache.recordActionRequired();
      await cache.refreshIfRequested();
      expect(fetchLimits).toHaveLength(fetches);
      return sent;
    };

    expect(await runWithScript(answer('h1'))).toBeUndefined();
    expect(await runWithScript(answer('h1'))).toBe('h1');
    expect(await runWithScript(answer('h2'))).toBe('resources_hash=h1');
    expect(await runWithScript(answer('h2'))).toBe('resources_hash=h2');
    expect(await runWithScript()).toBe('h2');

    await clock.sleep(3_600_000);
    expect(await runWithScript(answer('h2'))).toBe('h2');
    expect(await runWithScript()).toBe('h2');
  });

  it('reports a failure but does not throw', async () => {
    const { cache, problems } = cacheIn(createTemporaryDirectory(), [new Error('no network')]);
    cache.recordActionRequired();
    await expect(cache.refreshIfRequested()).resolves.toBeUndefined();
    expect(problems).toEqual([expect.stringContaining('no network')]);
    expect(cache.getCliAgent()).toBeUndefined();
  });
});
