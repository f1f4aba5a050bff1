import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngines } from '../../../src/models/engines.ts';
import {
  chatAnswer,
  FakeProvider,
  type ProviderAnswer,
} from '../../support/providers/fake-provider.ts';
import { createJob, providerAt } from '../job.ts';

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start('local');
});

afterAll(() => provider.close());

const refuseOption = (name: string): ProviderAnswer => ({
  status: 400,
  body: { error: { message: `'${name}' is not supported by this model`, param: name } },
});

/** Returns a command's way to run a prompt with the options `seed` and `temperature`. */
function createCommandRun() {
  const { run } = createEngines({ dataDir: 'nowhere', env: {} }).provider;
  const model = {
    model: 'tiny',
    engine: 'provider',
    provider: providerAt(provider.baseUrl),
  } as const;
  return () => run(createJob({ model, runOptions: { seed: 1, temperature: 0.5 } }));
}

describe('an option that the provider refuses', () => {
  it('is left out of the next request, and of later runs of the command, each with a warning', async () => {
    provider.reset(refuseOption('seed'), chatAnswer('x'));
    const run = createCommandRun();
    const results = [await run(), await run()];

    expect(provider.requests.map(({ text }) => text.includes('"seed"'))).toEqual([
      true,
      false,
      false,
    ]);

    expect(provider.requests.map(({ text }) => text.includes('"temperature"'))).toEqual([
      true,
      true,
      true,
    ]);

    for (const { hasFailed, warnings } of results) {
      expect({ hasFailed, warnings }).toEqual({
        hasFailed: false,
        warnings: ['tiny does not take seed: left out'],
      });
    }
  });

  it('fails the run if it is the second one', async () => {
    provider.reset(refuseOption('seed'), refuseOption('temperature'));
    expect(await createCommandRun()()).toMatchObject({
      hasFailed: true,
      warnings: ['tiny does not take seed: left out'],
    });
    expect(provider.requests).toHaveLength(2);
  });
});
