import { afterEach, expect, test } from 'vitest';
import type { Run } from '../../../src/wire/index.ts';
import { createKeyIn, TestService } from '../../support/local-service.ts';

let service: TestService;
afterEach(() => service.close());

const readMetrics = async (): Promise<string> => {
  const answer = await fetch(service.service.metricsUrl ?? '');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return await answer.text();
};

test('metrics count requests, runs, the queue and the store, and name no user', async () => {
  service = await TestService.start({ metricsAddress: { host: '127.0.0.1', port: 0 } });
  const anna = await createKeyIn(service.dataDir, { user: 'anna' });
  await service.publish('secret-recipe', '---\nmodel: echo\n---\nMix {{what}}');
  const promptVersionId = await service.versionOf('secret-recipe');
  const body = { promptVersionId, inputs: { textInputs: { what: 'herbs' } } };
  const { data } = await service.post<Run>('/runs', body, { key: anna });
  await service.get(`/runs/${data.runId}`, { key: anna });
  await service.get('/nowhere-at-all');
  const text = await readMetrics();

  expect(text).toContain('promptrun_requests_total{method="POST",route="/v1/runs",status="200"} 1');
  expect(text).toContain(
    'promptrun_requests_total{method="GET",route="/v1/runs/:runId",status="200"} 1',
  );
  expect(text).toContain('promptrun_requests_total{method="GET",route="none",status="404"} 1');

  for (const state of ['created', 'started', 'succeeded']) {
    expect(text).toContain(`promptrun_runs_total{state="${state}",model="echo"} 1`);
  }

  expect(text).toContain('promptrun_queue_length 0');
  expect(text).toContain('promptrun_runs_running 0');
  expect(text).toContain('promptrun_run_start_seconds_count{model="echo"} 1');
  expect(text).toContain('promptrun_run_end_seconds_count{model="echo"} 1');
  expect(text).toMatch(/^promptrun_store_seconds_count [1-9]/m);

  for (const word of ['anna', 'secret', 'herbs', data.runId, promptVersionId, anna, 'nowhere']) {
    expect(text).not.toContain(word);
  }
});

test('the address of metrics serves nothing else, and that of the service no metrics', async () => {
  service = await TestService.start({ metricsAddress: { host: '127.0.0.1', port: 0 } });
  const { metricsUrl = '', url } = service.service;
  expect((await fetch(new URL('/v1/me', metricsUrl))).status).toBe(404);
  expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(404);
  expect((await fetch(new URL('/metrics', url))).status).toBe(404);
});

test('metrics are off by default', async () => {
  service = await TestService.start();
  expect(service.service.metricsUrl).toBeUndefined();
});
