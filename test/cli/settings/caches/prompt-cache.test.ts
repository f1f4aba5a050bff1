import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PromptCache } from '../../../../src/cli/settings/caches/prompt-cache.ts';
import type { PromptVersion } from '../../../../src/wire/index.ts';
import { temporaryDirectory } from '../../../support/context.ts';
import { isPosix } from '../../../support/system.ts';

function version(id: string): PromptVersion {
  return { promptVersionId: id, promptId: 'p', title: 't', publishedAt: '', config: { of: id } };
}

function cacheIn(directory: string, service = 'local'): PromptCache {
  return new PromptCache(directory, service);
}

describe('the prompt cache', () => {
  it.runIf(isPosix)('keeps a version for the next process, readable by its owner only', () => {
    const directory = path.join(temporaryDirectory(), 'not', 'there', 'yet');
    cacheIn(directory).put(version('A'));
    expect(cacheIn(directory).get('a')).toEqual(version('A'));
    expect(statSync(path.join(directory, 'prompts.json')).mode & 0o777).toBe(0o600);
  });

  it('shares nothing between services', () => {
    const directory = temporaryDirectory();
    cacheIn(directory, 'https://one/v1').put(version('a'));
    expect(cacheIn(directory, 'https://two/v1').get('a')).toBeUndefined();
    expect(cacheIn(directory, 'https://two/v1').listVersions()).toEqual([]);
  });

  it('keeps the 200 prompts used last', () => {
    const directory = temporaryDirectory();
    const cache = cacheIn(directory);
    for (let index = 0; index < 200; index += 1) cache.put(version(`v${index}`));
    cache.get('v0');
    cache.put(version('new'));

    expect(cache.get('v1')).toBeUndefined();
    expect(cache.get('v0')).toEqual(version('v0'));
    expect(cache.listVersions()).toHaveLength(200);
  });

  it('replaces a damaged file', () => {
    const directory = temporaryDirectory();
    for (const damage of [
      '{"versions":[',
      '[]',
      '{"versions":{}}',
      '{"versions":[null,{"service":"local"},7]}',
    ]) {
      writeFileSync(path.join(directory, 'prompts.json'), damage);
      const cache = cacheIn(directory);
      expect(cache.get('a')).toBeUndefined();
      cache.put(version('a'));
      expect(cache.get('a')).toEqual(version('a'));
    }
  });

  it('continues without a file that cannot be written, with a note', () => {
    const directory = temporaryDirectory();
    writeFileSync(path.join(directory, 'file'), '');
    const problems: string[] = [];
    const cache = new PromptCache(path.join(directory, 'file'), 'local', problem =>
      problems.push(problem),
    );
    cache.put(version('a'));

    expect(problems).toHaveLength(1);
  });

  it('stores no version without an id', () => {
    const directory = temporaryDirectory();
    cacheIn(directory).put({ title: 'x' } as PromptVersion);
    cacheIn(directory).put(version('a'));
    expect(readFileSync(path.join(directory, 'prompts.json'), 'utf8')).not.toContain('"x"');
  });
});
