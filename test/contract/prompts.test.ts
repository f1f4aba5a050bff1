import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  PromptSearchResult,
  PromptVersion,
  PromptVersionList,
  RunPage,
} from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { openStoreIn, publishPromptFile, TestService } from '../support/local-service.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

const promptText = (words: string, title = 'Haiku'): string =>
  `---\ntitle: ${title}\n---\n${words}`;

async function unpublish(slug: string): Promise<boolean> {
  const store = await openStoreIn(service.dataDir);
  try {
    return await store.unpublish(slug);
  } finally {
    await store.close();
  }
}

describe('GET /prompts/:promptId', () => {
  test('returns the latest version, its title, its time and the inputs it expects', async () => {
    const { promptId, promptVersionId } = await service.find('postcard');
    expect(await service.data<PromptVersion>(`/prompts/${promptId}`)).toEqual({
      promptVersionId,
      promptId,
      title: 'Postcard',
      publishedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      config: {
        textInputs: {
          place: { type: 'string', description: expect.any(String) as string, required: true },
          mood: {
            type: 'string',
            description: expect.any(String) as string,
            required: false,
            default: 'sunny',
            enum: ['sunny', 'rainy', 'snowy'],
          },
        },
        imageInputs: [],
      },
      template: expect.stringMatching(/^Greetings from \{\{place\}\}!/) as string,
    });
  });

  test('names the pictures a prompt expects', async () => {
    const { promptId } = await service.find('describe');
    expect(await service.data(`/prompts/${promptId}`)).toMatchObject({
      config: { textInputs: {}, imageInputs: [{ description: expect.any(String) as string }] },
    });
  });

  test('returns an older version on request', async () => {
    const first = await service.publish('older', promptText('one'));
    const second = await service.publish('older', promptText('two'));
    const getPage = (query: string) =>
      service.data<PromptVersion>(`/prompts/${first.promptId}${query}`);

    expect((await getPage('')).promptVersionId).toBe(second.promptVersionId);
    expect((await getPage(`?versionId=${first.promptVersionId}`)).promptVersionId).toBe(
      first.promptVersionId,
    );
    expect(
      (await getPage(`?versionId=${first.promptVersionId.toUpperCase()}`)).promptVersionId,
    ).toBe(first.promptVersionId);
  });

  test('404 for an unknown prompt, an unknown version, and a version of another prompt', async () => {
    const { promptId } = await service.find('hello');
    const { promptVersionId } = await service.find('postcard');
    for (const target of [
      NOWHERE,
      `${promptId}?versionId=${NOWHERE}`,
      `${promptId}?versionId=${promptVersionId}`,
    ]) {
      expect(await service.get(`/prompts/${target}`)).toMatchObject({
        http: 404,
        status: 'NOT_FOUND_ERROR',
      });
    }
  });

  test('422 for an id that is not a UUID', async () => {
    const { promptId } = await service.find('hello');
    for (const target of ['x', `${promptId}?versionId=x`, `${promptId}?versionId=`]) {
      expect(await service.get(`/prompts/${target}`)).toMatchObject({
        http: 422,
        status: 'VALIDATION_ERROR',
      });
    }
  });
});

describe('GET /prompts/:promptId/versions', () => {
  test('returns versions newest first, the latest marked, at most 10', async () => {
    const published: string[] = [];
    for (let number = 1; number <= 12; number += 1) {
      published.unshift(
        (await service.publish('many', promptText(`version ${number}`, `Title ${number}`)))
          .promptVersionId,
      );
    }

    const { promptId } = await service.find('many');
    const list = await service.data<PromptVersionList>(`/prompts/${promptId}/versions`);

    expect(list).toMatchObject({ promptId, title: 'Title 12' });
    expect(list.versions.map(version => version.promptVersionId)).toEqual(published.slice(0, 10));
    expect(list.versions.map(version => version.isLatest)).toEqual([
      true,
      ...Array<undefined>(9).fill(undefined),
    ]);
  });

  test('404 for an unknown prompt, 422 for an id that is not a UUID', async () => {
    expect((await service.get(`/prompts/${NOWHERE}/versions`)).http).toBe(404);
    expect((await service.get('/prompts/x/versions')).http).toBe(422);
  });
});

describe('GET /prompt-versions/:promptVersionId', () => {
  test('returns the version as the prompt does', async () => {
    const { promptId, promptVersionId } = await service.find('hello');
    const version = await service.data(`/prompt-versions/${promptVersionId}`);
    expect(version).toEqual(await service.data(`/prompts/${promptId}`));
  });

  test('404 for an unknown version, 422 for an id that is not a UUID', async () => {
    expect((await service.get(`/prompt-versions/${NOWHERE}`)).http).toBe(404);
    expect((await service.get('/prompt-versions/x')).http).toBe(422);
  });
});

describe('GET /prompts/publish?q=', () => {
  const search = async (q: string) =>
    (await service.data<PromptSearchResult>(`/prompts/publish?q=${encodeURIComponent(q)}`)).rows;

  test('a row says what a prompt is and costs', async () => {
    const [row] = await search('postcard');
    expect(row).toEqual({
      promptId: expect.any(String) as string,
      labels: [],
      promptVersionId: expect.any(String) as string,
      title: 'Postcard',
      description: expect.any(String) as string,
      slug: 'postcard',
      model: 1,
      modality: 1,
      estimatedCredits: 4,
      uses: 0,
      upVotes: 0,
      publishedAt: expect.any(String) as string,
      samples: [],
      configs: expect.any(Object) as object,
      template: expect.stringContaining('{{place}}') as string,
    });
  });

  test('the best match comes first', async () => {
    await service.publish('lighthouse', promptText('a', 'Lighthouse'));
    await service.publish(
      'tale-of-the-lighthouse',
      promptText('b', 'A tale of the lighthouse keeper'),
    );
    await service.publish(
      'keeper',
      '---\ntitle: Keeper\ndescription: lives in a lighthouse\n---\nc',
    );

    expect((await search('lighthouse')).map(row => row.slug)).toEqual([
      'lighthouse',
      'tale-of-the-lighthouse',
      'keeper',
    ]);
    expect((await search('  LIGHTHOUSE keeper ')).map(row => row.slug)[0]).toBe(
      'tale-of-the-lighthouse',
    );
  });

  test('counts uses', async () => {
    const { promptVersionId } = await service.publish('used', promptText('x', 'Used'));
    for (let run = 0; run < 3; run += 1) {
      await service.post('/runs', { promptVersionId, inputs: {} });
    }
    expect((await search('used'))[0]).toMatchObject({ slug: 'used', uses: 3 });
  });

  test('finds nothing if nothing matches', async () => {
    expect(await search('zzzzzz')).toEqual([]);
  });

  test('200 characters are looked for, 201 are refused', async () => {
    expect(await search('x'.repeat(200))).toEqual([]);
    expect(await search(` ${'x'.repeat(200)} `)).toEqual([]);
    const long = await service.get(`/prompts/publish?q=${'x'.repeat(201)}`);
    expect(long).toMatchObject({
      http: 422,
      status: 'VALIDATION_ERROR',
      message: 'q must be at most 200 characters',
    });
  });

  test.each(['', '?q=', '?q=%20%20', '?q=a&q=b'])('422 without a query: %j', async query => {
    expect(await service.get(`/prompts/publish${query}`)).toMatchObject({
      http: 422,
      status: 'VALIDATION_ERROR',
    });
  });
});

describe('publishing', () => {
  test('the same content is the same version, and published once', async () => {
    const first = await service.publish('same', promptText('a'));
    const again = await service.publish('same', promptText('a'));
    expect(again).toEqual({ ...first, changed: false });
  });

  test('line ends and a byte-order mark make no other content', async () => {
    const first = await service.publish('line-ends', promptText('a'));
    const again = await service.publish(
      'line-ends',
      `\uFEFF${promptText('a').replaceAll('\n', '\r\n')}`,
    );
    expect(again).toEqual({ ...first, changed: false });
  });

  test("an older version's content published again makes that version the latest", async () => {
    const one = await service.publish('back', promptText('one'));
    const two = await service.publish('back', promptText('two'));

    expect(await service.publish('back', promptText('one'))).toMatchObject({
      ...one,
      changed: true,
    });

    const list = await service.data<PromptVersionList>(`/prompts/${one.promptId}/versions`);
    expect(list.versions).toMatchObject([
      { promptVersionId: one.promptVersionId, isLatest: true },
      { promptVersionId: two.promptVersionId },
    ]);
    expect(await service.versionOf('back')).toBe(one.promptVersionId);
  });

  test('an unpublished prompt is gone everywhere but in its runs', async () => {
    const { promptId, promptVersionId } = await service.publish('gone', promptText('here'));
    const run = await service.post<{ runId: string }>('/runs', { promptVersionId, inputs: {} });

    expect(await unpublish('gone')).toBe(true);
    expect(await unpublish('gone')).toBe(false);

    for (const target of [
      `/prompts/${promptId}`,
      `/prompts/${promptId}?versionId=${promptVersionId}`,
      `/prompts/${promptId}/versions`,
      `/prompt-versions/${promptVersionId}`,
    ]) {
      expect((await service.get(target)).http, target).toBe(404);
    }

    expect((await service.post('/runs', { promptVersionId, inputs: {} })).http).toBe(404);
    expect((await service.data<PromptSearchResult>('/prompts/publish?q=gone')).rows).toEqual([]);
    expect((await service.get(`/runs/${run.data.runId}`)).http).toBe(200);
    expect((await service.data<RunPage>('/runs?limit=1')).rows[0]?.runId).toBe(run.data.runId);

    expect(await service.publish('gone', promptText('here'))).toMatchObject({
      promptVersionId,
      changed: true,
    });
    expect((await service.get(`/prompt-versions/${promptVersionId}`)).http).toBe(200);
  });

  test('ids are the same on every machine', async () => {
    const other = await TestService.forTest();
    expect(await other.find('hello')).toEqual(await service.find('hello'));
  });

  test('versions published while the clock stands still, or goes back, keep their order', async () => {
    const clock = new HandClock();
    const publish = (text: string) => publishPromptFile(service.dataDir, 'still', text, clock);
    const published = [await publish('one'), await publish('two')];
    clock.set(clock.now() - 60_000);
    published.push(await publish('three'), await publish('one'));
    const { promptId } = await service.find('still');
    const { versions } = await service.data<PromptVersionList>(`/prompts/${promptId}/versions`);

    expect(versions.map(version => version.promptVersionId)).toEqual(
      [3, 2, 1].map(index => published[index]?.promptVersionId),
    );
  });
});
