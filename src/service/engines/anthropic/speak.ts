import { type EngineOutput, type EngineResult, failedWith, roughTokens } from '../engine.ts';
import { answerObjects } from '../provider/answer-body.ts';
import type { Speak } from '../provider/engine.ts';
import { retryWhileBusy } from '../provider/fault.ts';
import { wholeCharacters } from '../provider/whole-characters.ts';
import { connect } from './client.ts';
import { MessageAnswer } from './message-answer.ts';
import { messageParameters } from './parameters.ts';

/** Asks a model over Anthropic's Messages interface, once. */
export const speakAnthropic: Speak = async (job, access, answer): Promise<EngineResult> => {
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
  said.check();
  const outputs: EngineOutput[] = [{ type: 'text', text: said.text }];
  const { input, output } = said.usage ?? { input: 0, output: 0 };
  return {
    outputs,
    tokens: input + output || roughTokens(job.prompt.text + said.text),
    usage: said.usage,
    failed: false,
  };
};
