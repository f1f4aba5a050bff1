import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  PromptSearchResult,
  PromptVersion,
  PromptVersionList,
  RunPage,
} from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { openStoreIn, publishPromptFile, TestService } from '../support/local-service.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

const buildPromptFile = (template: string, title = 'Haiku'): string =>
  `---\ntitle: ${title}\n---\n${template}`;

async function unpublish(slug: string): Promise<boolean> {
  const store = await openStoreIn(service.dataDir);
  try {
    return await store.unpublish(slug);
  } finally {
    await store.close();
  }
}

describe('GET /prompts/:promptId', () => {
  test('returns the latest version with its title, its time and its inputs', async () => {
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

  test('lists the images that a prompt expects', async () => {
    const { promptId } = await service.find('describe');
    expect(await service.data(`/prompts/${promptId}`)).toMatchObject({
      config: { textInputs: {}, imageInputs: [{ description: expect.any(String) as string }] },
    });
  });

  test('returns an older version on request', async () => {
    const first = await service.publish('older', buildPromptFile('one'));
    const second = await service.publish('older', buildPromptFile('two'));
    const getVersion = (query: string) =>
      service.data<PromptVersion>(`/prompts/${first.promptId}${query}`);

    expect((await getVersion('')).promptVersionId).toBe(second.promptVersionId);
    expect((await getVersion(`?versionId=${first.promptVersionId}`)).promptVersionId).toBe(
      first.promptVersionId,
    );
    expect(
      (await getVersion(`?versionId=${first.promptVersionId.toUpperCase()}`)).promptVersionId,
    ).toBe(first.promptVersionId);
  });

  test('answers 404 for an unknown prompt, an unknown version, and a version of another prompt', async () => {
    const { promptId } = await service.find('hello');
    const { promptVersionId } = await service.find('postcard');
    for (const target of [
      UNKNOWN_ID,
      `${promptId}?versionId=${UNKNOWN_ID}`,
      `${promptId}?versionId=${promptVersionId}`,
    ]) {
      expect(await service.get(`/prompts/${target}`)).toMatchObject({
        http: 404,
        status: 'NOT_FOUND_ERROR',
      });
    }
  });

  test('answers 422 to an id that is not a UUID', async () => {
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
        (await service.publish('many', buildPromptFile(`version ${number}`, `Title ${number}`)))
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

  test('answers 404 for an unknown prompt, and 422 to an id that is not a UUID', async () => {
    expect((await service.get(`/prompts/${UNKNOWN_ID}/versions`)).http).toBe(404);
    expect((await service.get('/prompts/x/versions')).http).toBe(422);
  });
});

describe('GET /prompt-versions/:promptVersionId', () => {
  test('returns the version as the prompt does', async () => {
    const { promptId, promptVersionId } = await service.find('hello');
    const version = await service.data(`/prompt-versions/${promptVersionId}`);
    expect(version).toEqual(await service.data(`/prompts/${promptId}`));
  });

  test('answers 404 for an unknown version, and 422 to an id that is not a UUID', async () => {
    expect((await service.get(`/prompt-versions/${UNKNOWN_ID}`)).http).toBe(404);
    expect((await service.get('/prompt-versions/x')).http).toBe(422);
  });
});

describe('GET /prompts/publish?q=', () => {
  const search = async (q: string) =>
    (await service.data<PromptSearchResult>(`/prompts/publish?q=${encodeURIComponent(q)}`)).rows;

  test('describes each prompt, with its price and uses', async () => {
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

  test('lists the best match first', async () => {
    await service.publish('lighthouse', buildPromptFile('a', 'Lighthouse'));
    await service.publish(
      'tale-of-the-lighthouse',
      buildPromptFile('b', 'A tale of the lighthouse keeper'),
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

  test('counts the runs of each prompt', async () => {
    const { promptVersionId } = await service.publish('used', buildPromptFile('x', 'Used'));
    for (let run = 0; run < 3; run += 1) {
      await service.post('/runs', { promptVersionId, inputs: {} });
    }
    expect((await search('used'))[0]).toMatchObject({ slug: 'used', uses: 3 });
  });

  test('finds nothing if nothing matches', async () => {
    expect(await search('zzzzzz')).toEqual([]);
  });

  test('searches for at most 200 characters, and answers 422 to more', async () => {
    expect(await search('x'.repeat(200))).toEqual([]);
    expect(await search(` ${'x'.repeat(200)} `)).toEqual([]);
    const tooLong = await service.get(`/prompts/publish?q=${'x'.repeat(201)}`);
    expect(tooLong).toMatchObject({
      http: 422,
      status: 'VALIDATION_ERROR',
      message: 'q must be at most 200 characters',
    });
  });

  test.each(['', '?q=', '?q=%20%20', '?q=a&q=b'])(
    'answers 422 without a query: %j',
    async query => {
      expect(await service.get(`/prompts/publish${query}`)).toMatchObject({
        http: 422,
        status: 'VALIDATION_ERROR',
      });
    },
  );
});

describe('publishing a prompt file', () => {
  test('makes no new version of the same content', async () => {
    const first = await service.publish('same', buildPromptFile('a'));
    const again = await service.publish('same', buildPromptFile('a'));
    expect(again).toEqual({ ...first, changed: false });
  });

  test('makes no new version if only line ends or a byte-order mark differ', async () => {
    const first = await service.publish('line-ends', buildPromptFile('a'));
    const again = await service.publish(
      'line-ends',
      `\uFEFF${buildPromptFile('a').replaceAll('\n', '\r\n')}`,
    );
    expect(again).toEqual({ ...first, changed: false });
  });

  test('makes an older version the latest again if its content is published again', async () => {
    const older = await service.publish('back', buildPromptFile('one'));
    const newer = await service.publish('back', buildPromptFile('two'));

    expect(await service.publish('back', buildPromptFile('one'))).toMatchObject({
      ...older,
      changed: true,
    });

    const list = await service.data<PromptVersionList>(`/prompts/${older.promptId}/versions`);
    expect(list.versions).toMatchObject([
      { promptVersionId: older.promptVersionId, isLatest: true },
      { promptVersionId: newer.promptVersionId },
    ]);
    expect(await service.versionOf('back')).toBe(older.promptVersionId);
  });

  test('can be undone: the prompt is gone everywhere but in its runs, until it is published again', async () => {
    const { promptId, promptVersionId } = await service.publish('gone', buildPromptFile('here'));
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

    expect(await service.publish('gone', buildPromptFile('here'))).toMatchObject({
      promptVersionId,
      changed: true,
    });
    expect((await service.get(`/prompt-versions/${promptVersionId}`)).http).toBe(200);
  });

  test('gives a prompt the same ids on every machine', async () => {
    const otherService = await TestService.forTest();
    expect(await otherService.find('hello')).toEqual(await service.find('hello'));
  });

  test('keeps the order of versions while the clock stands still or goes back', async () => {
    const clock = new HandClock();
    const publish = (file: string) => publishPromptFile(service.dataDir, 'same-time', file, clock);
    const published = [await publish('one'), await publish('two')];
    clock.set(clock.now() - 60_000);
    published.push(await publish('three'), await publish('one'));
    const { promptId } = await service.find('same-time');
    const { versions } = await service.data<PromptVersionList>(`/prompts/${promptId}/versions`);

    expect(versions.map(version => version.promptVersionId)).toEqual(
      [3, 2, 1].map(index => published[index]?.promptVersionId),
    );
  });
});
