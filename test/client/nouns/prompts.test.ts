import { describe, expect, it } from 'vitest';
import { NotFoundError } from '../../../src/client/errors.ts';
import { getRejection, startScript } from '../../support/client.ts';
import { failure, success } from '../../support/scripted-service.ts';

describe('the list of prompts', () => {
  const prompt = (nth: number): object => ({
    promptId: `p${nth}`,
    promptVersionId: `v${nth}`,
    slug: `s${nth}`,
  });

  it('continues page by page, by the ids of prompts', async () => {
    const { client } = await startScript(
      {
        expect: { path: '/prompts', query: { limit: '50', startingAfter: null } },
        answer: success({ rows: [prompt(1), prompt(2)], hasMore: true }),
      },
      {
        expect: { path: '/prompts', query: { startingAfter: 'p2' } },
        answer: success({ rows: [prompt(3)], hasMore: false }),
      },
    );

    const slugs: string[] = [];
    for await (const { slug } of client.prompts.all()) slugs.push(slug);
    expect(slugs).toEqual(['s1', 's2', 's3']);
  });

  it('is not found if the service is not the local one', async () => {
    const { client } = await startScript({
      answer: failure(404, 'NOT_FOUND_ERROR', 'no such route'),
    });
    await getRejection(client.prompts.list({ limit: 1 }), NotFoundError);
  });
});
