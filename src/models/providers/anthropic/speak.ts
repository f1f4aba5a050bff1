import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { valueAt } from '../../../wire/bounded-json.ts';
import { type Access, clientOptions } from '../access.ts';
import { answerObjects } from '../answer-body.ts';
import type { Interface } from '../engine.ts';
import { retryWhileBusy } from '../fault.ts';
import { ProviderFault } from '../refusal.ts';
import { MessageAnswer } from './message-answer.ts';
import { messageParameters } from './parameters.ts';

/** Anthropic's Messages interface. */
export const ANTHROPIC: Interface = {
  async *ask(job, access) {
    if (job.model.modality !== 'text') {
      const advice = 'name a model of another provider';
      throw new ProviderFault('has no models that draw', { advice, isRefused: true });
    }
    const client = await connect(access);
    const [{ Messages }, { Stream }] = await Promise.all([
      import('@anthropic-ai/sdk/resources/messages/messages'),
      import('@anthropic-ai/sdk/core/streaming'),
    ]);
    const messages = new Messages(client);
    const { signal } = job;
    const parameters = messageParameters(job);
    const response = await retryWhileBusy(job, () => messages.create(parameters, { signal }).asResponse());
    const events = (body: Response): AsyncIterable<unknown> =>
      Stream.fromSSEResponse<unknown>(body, new AbortController(), client);
    yield* answerObjects(response, events, event => valueAt(event, 'type') === 'message_stop');
  },
  newAnswer: () => new MessageAnswer(),
};

/**
 * A client of Anthropic's interface without the parts that are not used. Everything is passed to it, so that it looks for
 * nothing in the environment, or in files, by itself.
 */
export async function connect(access: Access, answerBytes?: number): Promise<BaseAnthropic> {
  const { BaseAnthropic } = await import('@anthropic-ai/sdk/client');
  const { defaultHeaders, ...options } = clientOptions(access, answerBytes);
  return new BaseAnthropic({
    ...options,
    authToken: null,
    webhookKey: null,
    openTelemetry: false,
    // Gateways that speak this interface know the older of both headers only.
    defaultHeaders: { ...(access.key !== undefined && { 'x-api-key': access.key }), ...defaultHeaders },
  });
}
