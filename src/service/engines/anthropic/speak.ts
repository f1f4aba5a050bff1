import { type EngineJob, type EngineResult, failedWith, roughTokens } from '../engine.ts';
import { answerObjects, wholeCharacters } from '../provider/answer-body.ts';
import type { Interface } from '../provider/engine.ts';
import { retryWhileBusy } from '../provider/fault.ts';
import { connect } from './client.ts';
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
