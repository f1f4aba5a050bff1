import { afterEach, expect, test } from 'vitest';
import { describeImage } from '../../../src/prompts/render/describe-image.ts';
import { TasksClosedError } from '../../../src/prompts/tasks/task-order.ts';
import { parseBodyHere } from '../../../src/service/http/parse-body.ts';
import { WorkThread } from '../../../src/service/http/work-thread/work-thread.ts';

let thread = new WorkThread();

afterEach(async () => {
  await thread.close();
  thread = new WorkThread();
});

const LARGE = 'x'.repeat(1_000_000);

test('a large body has the same value and digest as if the main thread had parsed it', async () => {
  const body = (): Buffer => Buffer.from(JSON.stringify({ b: LARGE, a: [1, 'é'] }));
  const [parsedInThread, parsedHere] = [await thread.parseBody(body()), parseBodyHere(body())];
  expect(parsedInThread.value).toEqual(parsedHere.value);
  expect(parsedInThread.digest()).toBe(parsedHere.digest());
  const otherOrder = Buffer.from(JSON.stringify({ a: [1, 'é'], b: LARGE }));
  expect((await thread.parseBody(otherOrder)).digest()).toBe(parsedHere.digest());
});

test('a fault of a large body has the same message as if the main thread had found it', async () => {
  for (const text of [`{"a":"${LARGE}`, `{"a":"${LARGE}\\u0000"}`, `[${'1,'.repeat(200_000)}1]`]) {
    const parsedHere = (): unknown => parseBodyHere(Buffer.from(text));
    const parsedInThread = await thread
      .parseBody(Buffer.from(text))
      .catch((error: unknown) => error);
    expect(parsedHere).toThrow((parsedInThread as Error).message);
    expect(parsedInThread).toMatchObject({
      status: expect.stringMatching(/BAD_REQUEST|PAYLOAD_TOO_LARGE/) as string,
    });
  }
});

test('a picture that is slow to measure delays no other request', async () => {
  const bytes = Buffer.alloc(600_000);
  bytes.set([0xff, 0xd8]);
  for (let index = 2; index < bytes.length - 4; index += 4) bytes.set([0xff, 0xe1, 0, 2], index);
  const picture = { bytes, mediaType: 'image/jpeg' };
  const progress = { turns: 0, isOver: false };
  const description = thread.describeImage(picture).finally(() => {
    progress.isOver = true;
  });

  while (!progress.isOver) {
    await new Promise(resolve => setImmediate(resolve));
    progress.turns += 1;
  }

  expect(await description).toBe(describeImage(picture));
  expect(progress.turns).toBeGreaterThan(10);
});

test('unfinished and further work is rejected once the thread is closed', async () => {
  const unfinishedParse = thread.parseBody(Buffer.from(JSON.stringify(LARGE)));
  await Promise.all([expect(unfinishedParse).rejects.toThrow(TasksClosedError), thread.close()]);
  await expect(thread.parseBody(Buffer.from(JSON.stringify(LARGE)))).rejects.toThrow(
    TasksClosedError,
  );
});
