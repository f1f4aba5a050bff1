import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PromptSearchResult, PromptSearchRow } from '../../src/wire/index.ts';
import { TestService } from '../support/local-service.ts';

type Page = PromptSearchResult & { readonly hasMore: boolean };

let service: TestService;

/** Newest first. */
let all: readonly string[];

beforeAll(async () => {
  service = await TestService.start();
  for (const slug of ['one', 'two', 'three']) {
    await service.publish(slug, `---\ntitle: ${slug}\n---\nHi`);
  }
  await service.publish('film', '---\ntitle: Film\nmodel: echo\n---\nHi');
  const { rows } = await getPage('limit=50');
  all = rows.map(row => row.slug);
});

afterAll(() => service.close());

const getPage = (query = '') => service.data<Page>(`/prompts?${query}`);
const listSlugs = ({ rows }: Page) => rows.map(row => row.slug);
const findPromptId = async (slug: string) => (await service.find(slug)).promptId;

describe('GET /prompts', () => {
  test('returns every published prompt like the search, newest first', async () => {
    expect(all.slice(0, 4)).toEqual(['film', 'three', 'two', 'one']);
    expect(all.slice(4).sort()).toEqual(['describe', 'hello', 'postcard', 'sandbox']);
    const { rows } = await getPage('limit=50');
    const found = await service.data<PromptSearchResult>('/prompts/publish?q=film');
    expect(rows[0]).toEqual(found.rows[0]);
  });

  test.each([1, 3, 7, 8, 50])('paging forward by %i returns every prompt once', async limit => {
    const seen: PromptSearchRow[] = [];
    for (let query = `limit=${limit}`, more = true; more; ) {
      const next = await getPage(query);
      seen.push(...next.rows);
      more = next.hasMore;
      query = `limit=${limit}&startingAfter=${seen.at(-1)?.promptId}`;
    }
    expect(seen.map(row => row.slug)).toEqual(all);
  });

  test('paging backward returns the nearest newer ones, newest first', async () => {
    const oldest = await findPromptId(all.at(-1) ?? '');
    const near = await getPage(`limit=3&endingBefore=${oldest}`);

    expect({ slugs: listSlugs(near), hasMore: near.hasMore }).toEqual({
      slugs: all.slice(-4, -1),
      hasMore: true,
    });

    const rest = await getPage(`limit=50&endingBefore=${oldest}`);
    expect({ slugs: listSlugs(rest), hasMore: rest.hasMore }).toEqual({
      slugs: all.slice(0, -1),
      hasMore: false,
    });
  });

  test.each([
    ['limit=0', 'limit must be at least 1'],
    ['limit=51', 'limit must be at most 50'],
    ['limit=1.5', 'limit must be an integer'],
    ['startingAfter=x', 'startingAfter must be a UUID'],
  ])('422 for %s', async (query, message) => {
    expect(await service.get(`/prompts?${query}`)).toMatchObject({ http: 422, message });
  });

  test('422 for both cursors, 404 for one that is not a published prompt', async () => {
    const id = '00000000-0000-4000-8000-000000000000';
    expect((await service.get(`/prompts?startingAfter=${id}&endingBefore=${id}`)).http).toBe(422);
    expect((await service.get(`/prompts?startingAfter=${id}`)).http).toBe(404);
  });
});
