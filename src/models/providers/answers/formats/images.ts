import { readListAt, readTextAt, readValueAt } from '../../../../utils/bounded-json.ts';
import type { AnswerFormat, ModelAnswer } from '../model-answer.ts';
import { readReportedCost, readTokenUsage } from './token-usage.ts';

const NO_TOKENS = { input: 0, output: 0, cached: 0 };

/** The interfaces of image models: OpenAI's, its imitations, Amazon's and Fireworks'. */
export const IMAGES: AnswerFormat = {
  emptyAnswer: {
    created: 0,
    data: [{ b64_json: '' }],
    images: [''],
    request_id: '',
    status: 'Failed',
  },
  stopMeanings: { 'request moderated': 'filter', 'content moderated': 'filter' },
  read(object, answer) {
    answer.addCounts(readValueAt(object, 'usage'));
    answer.addError(readValueAt(object, 'error'));

    for (const item of [...readListAt(object, 'data'), ...readListAt(object, 'images')]) {
      if (readValueAt(item, 'respect_moderation') === false) {
        answer.addStopReason('content_filter');
        continue;
      }
      const base64 = typeof item === 'string' ? item : readTextAt(item, 'b64_json');
      answer.images.push({ base64: base64 || undefined, url: readTextAt(item, 'url') });
    }

    readDrawingTask(object, answer);
  },
  readUsage(counts) {
    const dollars = readReportedCost(counts);
    return (
      readTokenUsage(counts) ?? (dollars === undefined ? undefined : { ...NO_TOKENS, dollars })
    );
  },
};

/** Reads the id or the status of an image that is drawn asynchronously. */
function readDrawingTask(object: unknown, answer: ModelAnswer): void {
  answer.drawingTaskId = readTextAt(object, 'request_id') ?? answer.drawingTaskId;
  const status = readTextAt(object, 'status');
  if (status === undefined || status === 'Pending') return;

  if (status === 'Ready') {
    answer.images.push({ url: readTextAt(object, 'result', 'sample') });
  } else if (/moderated/i.test(status)) {
    answer.addStopReason(status);
  } else if (/error|failed|not found/i.test(status)) {
    answer.addError(status);
  } else {
    return;
  }

  answer.drawingTaskId = undefined;
}
