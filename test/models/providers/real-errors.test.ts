import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineFault, EngineResult } from '../../../src/models/engine.ts';
import { createEngines } from '../../../src/models/engines.ts';
import { answerInForm } from '../../support/providers/answers.ts';
import { FakeProvider } from '../../support/providers/fake-provider.ts';
import type { RealError } from '../../support/providers/real-error.ts';
import { UNSUPPORTED } from '../../support/providers/real-errors.ts';
import { REFUSALS } from '../../support/providers/real-refusals.ts';
import { createJob } from '../job.ts';
import { modelAt } from './requested-models.ts';

// Errors that the real services sent to others, and what is made of them.

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start();
});

afterAll(() => provider.close());

const posts = (): Record<string, unknown>[] =>
  provider.requests
    .filter(({ method }) => method === 'POST')
    .map(({ text }) => JSON.parse(text) as Record<string, unknown>);

/**
 * Asks a model of which nothing is known; the provider answers with the error until it is content
 * with the request.
 */
async function askWith(
  error: RealError,
  runOptions: Record<string, unknown> = {},
  isContent: (body: string) => boolean = () => false,
): Promise<EngineResult> {
  const { entry, env } = modelAt(provider.baseUrl, error.provider, 'model-of-tomorrow');

  provider.reset((response, request) => {
    if (request.method === 'POST' && isContent(request.text)) {
      const answer = answerInForm(request);
      if (typeof answer === 'function') return answer(response, request);
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer.body));
    }
    const status = request.method === 'POST' ? error.status : 404;
    return void response
      .writeHead(status, { 'content-type': 'application/json', ...error.headers })
      .end(error.body);
  });

  const sleep = async (): Promise<void> => {};
  return await createEngines({ dataDir: 'nowhere', env }).provider.run(
    createJob({ model: entry, runOptions, sleep }),
  );
}

function getErrorText({ hasFailed, outputs }: EngineResult): string {
  expect(hasFailed).toBe(true);
  const [output] = outputs;
  return output?.type === 'error' ? output.message : '';
}

describe('a real error is reported in its own words, and its request repeated only if that can help', () => {
  it.each([...UNSUPPORTED, ...REFUSALS])('$provider $status: $says', async error => {
    const message = getErrorText(await askWith(error));
    expect(message).toContain(error.says);
    expect(message).not.toMatch(/<\/?\w+>/);
    expect(posts()).toHaveLength(error.means === 'busy' || error.means === 'overloaded' ? 4 : 1);
  });
});

/**
 * Returns the fault of an error. An unpaid account is refused like a key; some providers report a
 * used-up quota in words alone.
 */
function findFault({ means, status }: RealError): EngineFault | undefined {
  if (means === 'key' || status === 402) return 'unauthorised';
  if (means === 'busy') return 'busy';
  return means === 'quota' && status === 429 ? 'quota' : undefined;
}

describe('a real refusal is classified', () => {
  it.each(REFUSALS)('$provider $status, $means: $says', async error => {
    const { fault, isRefused } = await askWith(error);
    expect({ fault, isRefused }).toEqual({
      fault: findFault(error),
      isRefused: error.means !== 'gateway',
    });
  });
});

const OPTIONS: Readonly<Record<string, unknown>> = {
  temperature: 0.5,
  topK: 40,
  frequencyPenalty: 0.1,
  presencePenalty: 0.2,
  stopSequences: ['END'],
  reasoningEffort: 'low',
};

const FIELDS: Readonly<Record<string, RegExp>> = {
  temperature: /"temperature"/,
  topK: /"top_?k"/i,
  frequencyPenalty: /"frequency_?penalty"/i,
  presencePenalty: /"presence_?penalty"/i,
  stopSequences: /"stop(_sequences|Sequences)?"/,
  reasoningEffort: /"reasoning(_effort)?"|"effort"|"thinkingConfig"/,
};

describe('a real refusal of an option leads to one more request without the option', () => {
  const known = UNSUPPORTED.filter(({ option }) => option !== undefined && option in OPTIONS);

  it.each(known)('$provider, $option: $says', async error => {
    const option = error.option ?? '';
    const field = FIELDS[option] ?? /^$/;
    const result = await askWith(error, { [option]: OPTIONS[option] }, body => !field.test(body));
    const isKnown = posts().length === 1; // the client knew it before the provider did
    expect(result.hasFailed && result.outputs).toBe(false);
    expect(posts()).toHaveLength(isKnown ? 1 : 2);
    expect(result.warnings).toEqual([`model-of-tomorrow does not take ${option}: left out`]);
  });
});
