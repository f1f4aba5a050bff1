import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Run } from '../../src/wire/index.ts';
import { keyOf, TestService } from '../support/local-service.ts';

/** Bytes of bodies that the service holds at once, half of them one user's. */
const MOST = 4000;

describe('the bodies of requests, over all connections', () => {
  let service: TestService;
  const uploads: Socket[] = [];
  afterEach(async () => {
    for (const socket of uploads.splice(0)) socket.destroy();
    await service.close();
  });

  /** Sends a part of a body, and resolves once the service has taken it up. */
  async function beginUpload(bytes: number, key = service.key): Promise<Socket> {
    const { hostname, port } = new URL(service.service.url);
    const socket = connect(Number(port), hostname);
    uploads.push(socket);
    await once(socket, 'connect');
    const head = ['POST /v1/runs HTTP/1.1', `host: ${hostname}`, `authorization: Bearer ${key}`];
    socket.write([...head, 'content-length: 60000', '', ' '.repeat(bytes)].join('\r\n'));
    return socket;
  }

  /** The answer to a creation whose body is this long. */
  async function create(bytes: number, key = service.key): Promise<number> {
    const body = {
      promptVersionId: await service.versionOf('hello'),
      inputs: { textInputs: { name: 'Ada' } },
    };
    const answer = await service.post('/runs', JSON.stringify(body).padEnd(bytes), { key });
    if (answer.http === 429) expect(answer.headers.get('retry-after')).toBe('1');
    return answer.http;
  }

  it('are bounded for each user and for all, and free again once they are gone', async () => {
    service = await TestService.start({ maxBodiesBytes: MOST });
    const other = await keyOf(service.dataDir, { user: 'ada' });
    const third = await keyOf(service.dataDir, { user: 'bob' });
    const upload = await beginUpload(1800);
    await expect.poll(() => create(1000)).toBe(429);
    expect(await create(1000, other)).toBe(200);
    await beginUpload(1800, other);
    await expect.poll(() => create(1000, third)).toBe(429);
    upload.destroy();
    await expect.poll(() => create(1000)).toBe(200);
    expect(await create(1000, third)).toBe(200);
  });

  it('are not counted while a creation waits for its run', async () => {
    service = await TestService.start({ maxBodiesBytes: MOST });
    const sandbox = await service.versionOf('sandbox');
    const body = JSON.stringify({ promptVersionId: sandbox, inputs: {}, runOptions: { delaySeconds: '1' } });
    const long = service.post<Run>('/runs', body.padEnd(1500));
    const { rows } = await expect
      .poll(() => service.data<{ rows: Run[] }>('/runs?status=running'))
      .toMatchObject({ rows: [{}] })
      .then(() => service.data<{ rows: Run[] }>('/runs'));
    expect(rows).toHaveLength(1);
    expect(await create(1500)).toBe(200);
    expect(await long).toMatchObject({ http: 200 });
  });
});
