import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import {
  type CommandResult,
  createTemporaryDirectory,
  runInProcess,
} from '../../../support/context.ts';
import { FakeProvider } from '../../../support/providers/fake-provider.ts';

it('runs show reports the tokens and the cost of a run of the embedded service', async () => {
  const provider = await FakeProvider.start();
  onTestFinished(() => provider.close());
  const message = { role: 'assistant', content: 'Hi' };
  const counts = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
  const usage = { ...counts, prompt_tokens_details: { cached_tokens: 400 } };
  provider.reset({ body: { choices: [{ message, finish_reason: 'stop' }], usage } });
  const home = createTemporaryDirectory();
  mkdirSync(path.join(home, 'data'), { mode: 0o700 });
  writeFileSync(
    path.join(home, 'data', 'models.yaml'),
    `providers:
  corner: {baseUrl: "${provider.baseUrl}"}
models:
  - {model: priced, modality: text, provider: corner, price: {input: 2, output: 8, cachedInput: 0.5}}
  - {model: unpriced, modality: text, provider: corner}
`,
  );

  writeFileSync(path.join(home, 'hi.prompt'), '---\nmodel: priced\n---\nSay hi');

  const run = (...argv: string[]): Promise<CommandResult> =>
    runInProcess(['-q', ...argv], {
      home,
      local: localService,
      env: { PROMPTRUN_DATA_DIR: path.join(home, 'data'), NO_COLOR: '1' },
      terminal: { stdout: argv.includes('--last') || argv.includes('list') },
    });

  const { runId } = JSON.parse((await run('run', 'hi.prompt', '--json')).stdout()) as {
    runId: string;
  };

  expect(JSON.parse((await run('runs', 'show', runId, '--json')).stdout())).toMatchObject({
    runId,
    tokens: 1100,
    usage: { tokens: { input: 1000, output: 100, cached: 400 }, cost: 0.0022, estimated: false },
  });

  expect((await run('runs', 'show', runId)).stdout()).toContain(
    'inputTokens\t1000\noutputTokens\t100\ncachedTokens\t400\ncost\t0.0022\nestimated\tfalse\n',
  );
  expect((await run('runs', 'show', '--last')).stdout()).toContain(
    'Tokens    1100\nCounted   1000 in (400 cached), 100 out\nCost      $0.0022\n',
  );

  // A failed run takes no credits, but its cost is not known.
  provider.reset({ body: { choices: [] } });
  expect((await run('run', 'hi.prompt', '-m', 'unpriced')).exitCode).toBe(EXIT.runFailed);

  const failed = (await run('runs', 'show', '--last')).stdout();
  expect(failed).toContain('Cost      not known\n');
  expect(failed).not.toContain('Credits');
  expect((await run('runs', 'list', '--limit', '1')).stdout()).toMatch(
    / failed .*(?<!free) {2}[\w-]+\n$/u,
  );
});
