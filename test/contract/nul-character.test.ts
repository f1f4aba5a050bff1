import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run } from '../../src/wire/index.ts';
import { TestService } from '../support/local-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

/** The refusal of a request that holds the character somewhere. */
const REFUSAL = {
  http: 400,
  status: 'BAD_REQUEST_ERROR',
  message: expect.stringMatching(/holds the character NUL \(U\+0000\)/) as string,
};

const buildHelloRequest = async (inputs: object, runOptions = {}) => ({
  promptVersionId: await service.versionOf('hello'),
  inputs,
  runOptions,
});

describe('the character NUL', () => {
  test.each([
    { place: 'an input', textInputs: { name: 'a\0b' }, runOptions: {} },
    { place: 'the name of an input', textInputs: { name: 'a', 'b\0': 'c' }, runOptions: {} },
    { place: 'an input, after a backslash', textInputs: { name: '\\\0' }, runOptions: {} },
    { place: 'a run option', textInputs: { name: 'a' }, runOptions: { quality: '\0' } },
  ])('is refused with 400 in $place', async ({ textInputs, runOptions }) => {
    const request = await buildHelloRequest({ textInputs }, runOptions);
    expect(await service.post('/runs', request)).toMatchObject(REFUSAL);
  });

  test.each([
    '/prompts/publish?q=a%00b',
    '/runs?idempotencyKey=%00',
    '/runs?startingAfter=%00',
    '/runs/a%00b',
  ])('is refused with 400 in the address %s', async target => {
    expect(await service.get(target)).toMatchObject(REFUSAL);
  });

  test('is not meant by an input that spells it as a backslash and u0000', async () => {
    const request = await buildHelloRequest({ textInputs: { name: '\\u0000' } });
    const answer = await service.post<Run>('/runs', request);
    expect(answer.data.outputs[0]?.data).toContain('\\u0000');
  });

  test.each([
    { name: 'title', line: 'title: "a\\0b"' },
    { name: 'description', line: 'description: "a\\0b"' },
    { name: 'model', line: 'model: "echo\\0"' },
  ])('is a fault, with its place, in the $name of a published prompt', async ({ name, line }) => {
    const file = `---\n${line}\n---\nHello\n`;
    const message = `${name} can't hold the character NUL (U+0000): remove it`;
    const answer = await service.call<{ faults: unknown }>('PUT', '/prompts/nul-in-text', {
      body: { file },
    });

    expect(answer).toMatchObject({ http: 422, data: { faults: [{ line: 2, message }] } });
    await expect(service.publish('nul-in-text', file)).rejects.toThrow(
      `nul-in-text.prompt:2: ${message}`,
    );
  });

  test('is allowed in any other value of a published prompt, which can be read and run', async () => {
    const file = `---
"x\\0": "y\\0"
metadata: { "a\\0": "b\\0" }
config: { "c\\0": "d\\0", stop: ["\\0"] }
input: { schema: { "e?": "string, f\\0" }, default: { e: "g\\0" } }
---
{{e}}`;
    const { promptId, promptVersionId } = await service.publish('nul-elsewhere', file);
    for (const target of [
      `/prompts/${promptId}`,
      `/prompts/${promptId}/versions`,
      `/prompt-versions/${promptVersionId}`,
    ]) {
      await service.data(target);
    }

    const { http, data } = await service.post<Run>('/runs', { promptVersionId, inputs: {} });
    expect(http).toBe(200);
    expect(data).toMatchObject({ runStatus: 'succeeded' });
  });

  test.each([
    { method: 'PUT', target: '/prompts/nul', body: { file: 'a\0' } },
    { method: 'PUT', target: '/prompts/nul', body: { file: '{{> b}}', partials: { b: 'c\0' } } },
    { method: 'PUT', target: '/prompts/nul', body: { file: '{{> b}}', partials: { 'b\0': 'c' } } },
    { method: 'PUT', target: '/prompts/a%00b', body: { file: 'a' } },
    { method: 'PUT', target: '/prompts/hello/labels/a%00b', body: { promptVersionId: 'x' } },
    { method: 'PUT', target: '/prompts/hello/labels/a', body: { promptVersionId: 'x\0' } },
    { method: 'DELETE', target: '/prompts/hello/labels/a%00b', body: undefined },
    { method: 'DELETE', target: '/prompts/hello%00', body: undefined },
    { method: 'GET', target: '/prompts/hello%00/versions', body: undefined },
    { method: 'GET', target: '/prompt-versions/%00', body: undefined },
    { method: 'POST', target: '/runs/a%00b/cancel', body: undefined },
  ])('is refused with 400 in $method $target $body', async ({ method, target, body }) => {
    expect(await service.call(method, target, { body })).toMatchObject(REFUSAL);
  });

  test('becomes U+FFFD in the answer of a model', async () => {
    await service.publish(
      'nul',
      '---\nmodel: echo\ninput:\n  schema: { a?: string }\n  default: { a: "x\\0y" }\n---\n{{a}}',
    );
    const body = { promptVersionId: await service.versionOf('nul'), inputs: {} };
    const { data } = await service.post<Run>('/runs', body);

    expect(data.outputs).toEqual([{ type: 'text', data: 'x\uFFFDy' }]);
    expect(await service.data(`/runs/${data.runId}`)).toEqual(data);
  });
});
