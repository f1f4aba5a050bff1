import { describe, expect, test } from 'vitest';
import { listBestMatches } from '../../../src/service/prompts/best-matches.ts';

const prompt = (
  slug: string,
  more: { title?: string; description?: string; uses?: number; publishedAt?: number } = {},
) => ({
  slug,
  title: '',
  description: '',
  uses: 0,
  publishedAt: 0,
  ...more,
});

const search = (query: string, ...prompts: ReturnType<typeof prompt>[]) =>
  listBestMatches(prompts, query).map(({ slug }) => slug);

describe('the order of search results', () => {
  test('a slug that is the query comes before everything that says more about it', () => {
    const popular = prompt('sea-shanty', {
      title: 'Sea sea sea',
      description: 'about the sea',
      uses: 99,
    });
    expect(search('sea', popular, prompt('sea'))).toEqual(['sea', 'sea-shanty']);
  });

  test('a title that is the query comes next', () => {
    expect(
      search('high seas', prompt('high-seas-tale'), prompt('x', { title: 'High Seas' })),
    ).toEqual(['x', 'high-seas-tale']);
  });

  test('more words that match count more', () => {
    expect(search('red boat', prompt('red-car'), prompt('red-boat'))).toEqual([
      'red-boat',
      'red-car',
    ]);
  });

  test('a whole word counts more than a beginning, and that more than a part', () => {
    expect(search('sea', prompt('overseas'), prompt('season'), prompt('deep-sea'))).toEqual([
      'deep-sea',
      'season',
      'overseas',
    ]);
  });

  test('a word counts most in a slug, then in a title, then in a description', () => {
    const all = [
      prompt('a', { description: 'sea' }),
      prompt('b', { title: 'The sea' }),
      prompt('the-sea'),
    ];
    expect(search('sea', ...all)).toEqual(['the-sea', 'b', 'a']);
  });

  test('equal matches are ordered by use, then by time, then by slug', () => {
    const all = [
      prompt('sea-a', { publishedAt: 1 }),
      prompt('sea-b', { publishedAt: 2 }),
      prompt('sea-c', { uses: 1 }),
    ];
    expect(search('sea', ...all)).toEqual(['sea-c', 'sea-b', 'sea-a']);
    expect(search('sea', prompt('sea-y'), prompt('sea-x'))).toEqual(['sea-x', 'sea-y']);
  });

  test.each([
    { query: 'creme', slugs: ['in-title'] },
    { query: 'CREME', slugs: ['in-title'] },
    { query: 'crème', slugs: ['in-title'] },
    { query: 'senor', slugs: ['in-description'] },
    { query: 'ase', slugs: ['in-description'] },
  ])('accents do not matter: $query', ({ query, slugs }) => {
    const all = [
      prompt('in-title', { title: 'Café crème' }),
      prompt('in-description', { description: 'Señor Åse' }),
    ];
    expect(search(query, ...all)).toEqual(slugs);
  });

  test('an accent without a letter matches nothing', () => {
    expect(search('\u0301', prompt('x', { title: 'Café crème' }))).toEqual([]);
  });

  test('case, width and composition of letters do not matter', () => {
    expect(search('ＣＡＦÉ', prompt('cafe\u0301'))).toHaveLength(1);
  });

  test('prompts that match no word are left out', () => {
    expect(search('sea', prompt('mountain'))).toEqual([]);
  });

  test('at most 50 prompts are returned', () => {
    const many = Array.from({ length: 60 }, (_, index) => prompt(`sea-${index}`));
    expect(search('sea', ...many)).toHaveLength(50);
  });
});
