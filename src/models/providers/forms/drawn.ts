import { listAt, textAt, valueAt } from '../../../wire/bounded-json.ts';
import type { Form } from '../answer.ts';
import { reasonOf } from '../refusal.ts';
import { tokenUsage } from './chat.ts';

/** The pictures of image models: OpenAI's interface for them, those made after it, and Google's. */
export const DRAWN: Form = {
  empty: { created: 0, data: [{ b64_json: '' }], predictions: [{ bytesBase64Encoded: '' }], images: [''] },
  stops: {},
  read(object, answer) {
    answer.count(valueAt(object, 'usage'));
    const error = valueAt(object, 'error') ?? undefined;
    if (error !== undefined) answer.fail(reasonOf(error) ?? 'it does not say which');
    const pictures = [
      ...listAt(object, 'data'),
      ...listAt(object, 'predictions'),
      ...listAt(object, 'images'),
    ];
    for (const picture of pictures) {
      const base64 =
        typeof picture === 'string'
          ? picture
          : (textAt(picture, 'b64_json') ?? textAt(picture, 'bytesBase64Encoded'));
      answer.pictures.push({ base64: base64 || undefined, url: textAt(picture, 'url') });
    }
  },
  usage: tokenUsage,
};
