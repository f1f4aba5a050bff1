import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import { type EngineJob, type EngineResult, failedWith, roughTokens } from '../engine.ts';
import { type Access, clientOptions, headersFor } from '../provider/access.ts';
import { answerObjects, wholeCharacters } from '../provider/answer-body.ts';
import type { Interface } from '../provider/engine.ts';
import { retryWhileBusy } from '../provider/fault.ts';
import { MessageAnswer } from './message-answer.ts';
import { messageParameters } from './parameters.ts';

/** Anthropic's Messages interface. */
export const ANTHROPIC: Interface = {
  async speak(job, access, answer) {
    if (job.model.modality !== 'text') {
      return failedWith(`${access.provider.name} has no models that draw: name a model of another provider`);
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
    const said = new MessageAnswer();
    const show = wholeCharacters(job.onText);
    const events = (body: Response) => Stream.fromSSEResponse<unknown>(body, new AbortController(), client);
    for await (const object of answerObjects(response, events, ({ type }) => type === 'message_stop')) {
      show(said.add(object));
      answer.text = said.text;
      answer.usage = said.usage;
    }
    return resultOf(said, job);
  },
  async read(body, job, _access, answer) {
    const said = new MessageAnswer();
    said.add(body);
    answer.text = said.text;
    answer.usage = said.usage;
    return resultOf(said, job);
  },
};

/** @throws {ProviderFault} for an answer that is not whole */
function resultOf(said: MessageAnswer, { prompt }: EngineJob): EngineResult {
  said.check();
  const { text, usage } = said;
  const tokens = (usage && usage.input + usage.output) || roughTokens(prompt.text + text);
  return { outputs: [{ type: 'text', text }], tokens, usage, failed: false };
}

/**
 * A client of Anthropic's interface without the parts that are not used. Everything is passed to it, so that it looks for
 * nothing in the environment, or in files, by itself.
 */
export async function connect(access: Access, answerBytes?: number): Promise<BaseAnthropic> {
  const { BaseAnthropic } = await import('@anthropic-ai/sdk/client');
  const { provider, key } = access;
  return new BaseAnthropic({
    ...clientOptions(access, answerBytes),
    apiKey: key ?? 'none',
    authToken: null,
    webhookKey: null,
    openTelemetry: false,
    defaultHeaders: {
      // Gateways that speak this interface know the older of both headers only.
      ...(key === undefined ? { authorization: null } : { 'x-api-key': key }),
      ...headersFor(provider),
    },
  });
}
