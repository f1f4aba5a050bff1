import { describe, expect, it } from 'vitest';
import { convert, PROVIDERS, parseCases } from './convert-configuration.ts';

describe('limits of a configuration of promptfoo', () => {
  const createList = (count: number): string =>
    JSON.stringify(Array.from({ length: count }, (_, index) => String(index)));
  const configWithLists = (countOfA: number, countOfB: number): string =>
    `prompts: ['{{a}} {{b}}']\n${PROVIDERS}tests:\n  - vars: { a: ${createList(countOfA)}, b: ${createList(countOfB)} }\n`;

  it('refuses lists that produce more than 100,000 cases before it makes any', async () => {
    await expect(convert(configWithLists(10_000, 10_000))).rejects.toThrow(
      'its lists produce more than 100,000 cases',
    );
    await expect(convert(configWithLists(1001, 100))).rejects.toThrow(
      'its lists produce more than 100,000 cases',
    );
  });

  it('makes a case of each combination of two lists', async () => {
    const cases = parseCases(await convert(configWithLists(101, 100)));
    expect(cases).toHaveLength(10_100);
    expect(cases.at(-1)).toEqual({ name: 'case 1 (10100)', inputs: { a: '100', b: '99' } });
  });

  it('refuses more than 64 MiB of inputs', async () => {
    const files = { 'long.txt': 'x'.repeat(1024 * 1024) };
    const config = (count: number): string =>
      `prompts: ['{{a}} {{b}}']\n${PROVIDERS}tests:\n  - vars: { a: file://long.txt, b: ${createList(count)} }\n`;
    await expect(convert(config(70), { files })).rejects.toThrow('larger than 64 MiB in total');
  });

  it('reads 1,000 different files and refuses 1,001', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 1001 }, (_, index) => [`f${index}.txt`, 'x']),
    );
    const config = (count: number): string =>
      `prompts: ['{{a}}']\n${PROVIDERS}tests:\n${Object.keys(files)
        .slice(0, count)
        .map(name => `  - vars: { a: file://${name} }\n`)
        .join('')}`;

    expect(parseCases(await convert(config(1000), { files }))).toHaveLength(1000);
    await expect(convert(config(1001), { files })).rejects.toThrow(
      'a configuration may name 1,000 different ones',
    );
  });
});
