import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PromptCache } from '../../../../src/cli/settings/caches/prompt-cache.ts';
import type { PromptVersion } from '../../../../src/wire/index.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import { isPosix } from '../../../support/system.ts';

function createVersion(id: string): PromptVersion {
  return { promptVersionId: id, promptId: 'p', title: 't', publishedAt: '', config: { of: id } };
}

function createCache(directory: string, service = 'local'): PromptCache {
  return new PromptCache(directory, service);
}

describe('the prompt cache', () => {
  it.runIf(isPosix)('keeps a version for the next process, readable by its owner only', () => {
    const directory = path.join(createTemporaryDirectory(), 'not', 'there', 'yet');
    createCache(directory).put(createVersion('A'));
    expect(createCache(directory).get('a')).toEqual(createVersion('A'));
    expect(statSync(path.join(directory, 'prompts.json')).mode & 0o777).toBe(0o600);
  });

  it('shares nothing between services', () => {
    const directory = createTemporaryDirectory();
    createCache(directory, 'https://one/v1').put(createVersion('a'));
    expect(createCache(directory, 'https://two/v1').get('a')).toBeUndefined();
    expect(createCache(directory, 'https://two/v1').listVersions()).toEqual([]);
  });

  it('keeps the 200 versions that were used last', () => {
    const directory = createTemporaryDirectory();
    const cache = createCache(directory);
    for (let index = 0; index < 200; index += 1) cache.put(createVersion(`v${index}`));
    cache.get('v0');
    cache.put(createVersion('new'));

    expect(cache.get('v1')).toBeUndefined();
    expect(cache.get('v0')).toEqual(createVersion('v0'));
    expect(cache.listVersions()).toHaveLength(200);
  });

  it('replaces a damaged file', () => {
    const directory = createTemporaryDirectory();
    for (const damage of [
      '{"versions":[',
      '[]',
      '{"versions":{}}',
      '{"versions":[null,{"service":"local"},7]}',
    ]) {
      writeFileSync(path.join(directory, 'prompts.json'), damage);
      const cache = createCache(directory);
      expect(cache.get('a')).toBeUndefined();
      cache.put(createVersion('a'));
      expect(cache.get('a')).toEqual(createVersion('a'));
    }
  });

  it('continues without a file that cannot be written, with a note', () => {
    const directory = createTemporaryDirectory();
    writeFileSync(path.join(directory, 'file'), '');
    const problems: string[] = [];
    const cache = new PromptCache(path.join(directory, 'file'), 'local', problem =>
      problems.push(problem),
    );
    cache.put(createVersion('a'));

    expect(problems).toHaveLength(1);
  });

  it('stores no version without an id', () => {
    const directory = createTemporaryDirectory();
    createCache(directory).put({ title: 'x' } as PromptVersion);
    createCache(directory).put(createVersion('a'));
    expect(readFileSync(path.join(directory, 'prompts.json'), 'utf8')).not.toContain('"x"');
  });
});
