import { errorMessage } from '../../../utils/error-utils.ts';
import type { EngineJob } from '../../engine.ts';
import type { Access } from '../access.ts';
import { retryWhileBusy } from '../explain-fault.ts';
import { type ProviderRequest, send } from '../send-request.ts';
import { readAnswer } from './answer-body.ts';
import type { ModelAnswer } from './model-answer.ts';
import { ProviderFault } from './provider-fault.ts';

const DRAWING_PAUSE_MS = 1000;

/**
 * Polls for a picture until the provider has drawn it. Polling costs nothing, so network faults are retried.
 *
 * @throws {ProviderFault} if the picture can't be fetched; it may have been paid for
 */
export async function awaitDrawing(
  { headers, resultUrl: url }: Pick<ProviderRequest, 'headers'> & { readonly resultUrl: URL },
  answer: ModelAnswer,
  { access, ...patient }: Pick<EngineJob, 'sleep' | 'signal'> & { readonly access: Access },
): Promise<void> {
  while (answer.task !== undefined) {
    await patient.sleep(DRAWING_PAUSE_MS, patient.signal);
    const body = Buffer.from(JSON.stringify({ id: answer.task }));
    const ask = () => send({ url, method: 'POST', headers, body }, access, patient.signal);
    try {
      await readAnswer(await retryWhileBusy(patient, ask, 'none'), answer, () => undefined);
    } catch (error) {
      patient.signal.throwIfAborted();
      const { what, more } =
        error instanceof ProviderFault
          ? error
          : new ProviderFault(`did not return it: ${errorMessage(error)}`);
      const { advice } = more;
      throw new ProviderFault(`accepted the request for a picture, but ${what}`, {
        advice,
        mayHaveCost: true,
      });
    }
  }
}
