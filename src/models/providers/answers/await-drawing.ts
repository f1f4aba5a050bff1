import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { EngineJob } from '../../engine.ts';
import type { ProviderAccess } from '../provider-access.ts';
import { retryWhileBusy } from '../retry-while-busy.ts';
import { type ProviderRequest, sendToProvider } from '../send-request.ts';
import { readAnswer } from './answer-body.ts';
import type { ModelAnswer } from './model-answer.ts';
import { ProviderFault } from './provider-fault.ts';

const DRAWING_PAUSE_MS = 1000;

/**
 * Polls for an image until the provider has drawn it, and fills the answer with it. The job's
 * signal ends the polling; nothing else limits its time. Polling costs nothing, so network faults
 * are retried.
 *
 * @throws {ProviderFault} if the image can't be fetched; it may have been paid for
 */
export async function awaitDrawing(
  { headers, resultUrl }: Pick<ProviderRequest, 'headers'> & { readonly resultUrl: URL },
  answer: ModelAnswer,
  access: ProviderAccess,
  job: Pick<EngineJob, 'sleep' | 'signal'>,
): Promise<void> {
  const { signal } = job;
  while (answer.drawingTaskId !== undefined) {
    await job.sleep(DRAWING_PAUSE_MS, signal);
    const body = Buffer.from(JSON.stringify({ id: answer.drawingTaskId }));
    const poll = () =>
      sendToProvider({ url: resultUrl, method: 'POST', headers, body }, access, signal);
    const ignoreText = (): void => {};

    try {
      const response = await retryWhileBusy(job, poll, 'none');
      // Adds the image and clears the task's id once it is drawn.
      await readAnswer(response, answer, ignoreText);
    } catch (error) {
      signal.throwIfAborted();
      throw toDrawingFault(error);
    }
  }
}

function toDrawingFault(error: unknown): ProviderFault {
  const isProviderFault = error instanceof ProviderFault;
  const reason = isProviderFault ? error.message : `did not return it: ${getErrorMessage(error)}`;
  return new ProviderFault(`accepted the request for a picture, but ${reason}`, {
    advice: isProviderFault ? error.details.advice : undefined,
    mayHaveCost: true,
  });
}
