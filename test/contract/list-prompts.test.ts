import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PromptSearchResult, PromptSearchRow } from '../../src/wire/index.ts';
import { TestService } from '../support/local-service.ts';

type Page = PromptSearchResult & { readonly hasMore: boolean };

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

let service: TestService;

/** The slugs of every published prompt, newest first. */
let slugs: readonly string[];

beforeAll(async () => {
  service = await TestService.start();
  for (const slug of ['one', 'two', 'three']) {
    await service.publish(slug, `---\ntitle: ${slug}\n---\nHi`);
  }
  await service.publish('film', '---\ntitle: Film\nmodel: echo\n---\nHi');
  const { rows } = await getPage('limit=50');
  slugs = rows.map(row => row.slug);
});

afterAll(() => service.close());

const getPage = (query = '') => service.data<Page>(`/prompts?${query}`);
const listSlugs = ({ rows }: Page) => rows.map(row => row.slug);
const findPromptId = async (slug: string) => (await service.find(slug)).promptId;

describe('GET /prompts', () => {
  test('lists every published prompt, newest first', () => {
    expect(slugs.slice(0, 4)).toEqual(['film', 'three', 'two', 'one']);
    expect(slugs.slice(4).sort()).toEqual(['describe', 'hello', 'postcard', 'sandbox']);
  });

  test('returns a prompt as the search does', async () => {
    const { rows } = await getPage('limit=50');
    const found = await service.data<PromptSearchResult>('/prompts/publish?q=film');
    expect(rows[0]).toEqual(found.rows[0]);
  });

  test.each([1, 3, 7, 8, 50])('paging forward by %i returns every prompt once', async limit => {
    const seen: PromptSearchRow[] = [];
    for (let query = `limit=${limit}`, hasMore = true; hasMore; ) {
      const page = await getPage(query);
      seen.push(...page.rows);
      hasMore = page.hasMore;
      query = `limit=${limit}&startingAfter=${seen.at(-1)?.promptId}`;
    }
    expect(seen.map(row => row.slug)).toEqual(slugs);
  });

  test('paging backward returns the newer prompts that are nearest to the cursor, newest first', async () => {
    const oldest = await findPromptId(slugs.at(-1) ?? '');
    const nearest = await getPage(`limit=3&endingBefore=${oldest}`);

    expect({ slugs: listSlugs(nearest), hasMore: nearest.hasMore }).toEqual({
      slugs: slugs.slice(-4, -1),
      hasMore: true,
    });

    const allNewer = await getPage(`limit=50&endingBefore=${oldest}`);
    expect({ slugs: listSlugs(allNewer), hasMore: allNewer.hasMore }).toEqual({
      slugs: slugs.slice(0, -1),
      hasMore: false,
    });
  });

  test.each([
    { query: 'limit=0', message: 'limit must be at least 1' },
    { query: 'limit=51', message: 'limit must be at most 50' },
    { query: 'limit=1.5', message: 'limit must be an integer' },
    { query: 'startingAfter=x', message: 'startingAfter must be a UUID' },
  ])('answers 422 to $query', async ({ query, message }) => {
    expect(await service.get(`/prompts?${query}`)).toMatchObject({ http: 422, message });
  });

  test('answers 422 to both cursors at once', async () => {
    const query = `startingAfter=${UNKNOWN_ID}&endingBefore=${UNKNOWN_ID}`;
    expect((await service.get(`/prompts?${query}`)).http).toBe(422);
  });

  test('answers 404 to a cursor that is not a published prompt', async () => {
    expect((await service.get(`/prompts?startingAfter=${UNKNOWN_ID}`)).http).toBe(404);
  });
});
