import type { ImageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import { type EngineJob, messageText } from '../../engine.ts';
import type { ModelEntry } from '../../model-entry.ts';
import { USER_AGENT } from '../../outgoing/open-http.ts';
import { leftOutNote, type SortedOptions } from './call-options.ts';

/** The nearest sizes that image models draw, by aspect ratio. */
const DRAWING_SIZES: Readonly<Record<string, string>> = {
  '1:1': '1024x1024',
  '3:2': '1536x1024',
  '4:3': '1536x1024',
  '16:9': '1536x1024',
  '2:3': '1024x1536',
  '3:4': '1024x1536',
  '9:16': '1024x1536',
};

/** Returns the call of an image model, and the options that its client has no place for. */
export function drawingCall(
  { prompt }: Pick<EngineJob, 'prompt'>,
  ratioAs: 'size' | 'ratio',
  { known, others }: Pick<SortedOptions, 'known' | 'others'>,
): { call: ImageModelV4CallOptions; others: Readonly<Record<string, unknown>> } {
  const texts = prompt.messages.map(({ parts }) => messageText(parts)).filter(text => text !== '');
  const { aspectRatio, size: wantedSize, ...rest } = others;
  const ratio = typeof aspectRatio === 'string' ? aspectRatio : undefined;
  const size = wantedSize ?? (ratioAs === 'size' && ratio !== undefined ? DRAWING_SIZES[ratio] : undefined);
  const [n, seed] = [known.get('n'), known.get('seed')];
  const call: ImageModelV4CallOptions = {
    prompt: texts.join('\n\n'),
    n: typeof n === 'number' ? n : 1,
    size: isSize(size) ? size : undefined,
    aspectRatio: isRatio(ratio) && (size === undefined || ratioAs !== 'size') ? ratio : undefined,
    seed: typeof seed === 'number' ? seed : undefined,
    files: pictureFiles(prompt),
    mask: undefined,
    providerOptions: {},
    headers: { 'user-agent': USER_AGENT },
  };
  return {
    call,
    others: {
      ...rest,
      ...(size !== undefined && !isSize(size) && { size }),
      ...(aspectRatio !== undefined && !isRatio(ratio) && { aspectRatio }),
    },
  };
}

/** Returns the pictures of a prompt; undefined if there are none, since the client edits pictures even for an empty list. */
function pictureFiles({ messages }: EngineJob['prompt']): ImageModelV4CallOptions['files'] {
  const pictures = messages.flatMap(({ parts }) =>
    parts.flatMap(part => ('image' in part ? [part.image] : [])),
  );
  if (pictures.length === 0) return undefined;
  return pictures.map(({ bytes, mediaType }) => ({ type: 'file', mediaType, data: bytes }));
}

/** Returns notes on what a client left out of a request for a picture, except for the common options. */
export function drawingNotes(
  warnings: readonly SharedV4Warning[],
  model: ModelEntry,
  { size, aspectRatio }: Pick<ImageModelV4CallOptions, 'size' | 'aspectRatio'>,
): string[] {
  return warnings.flatMap(warning => {
    if (warning.type === 'other') return [`${model.id ?? model.model}: ${warning.message}`];
    if (warning.type !== 'unsupported') return [];
    const { feature } = warning;
    const isLost = (feature === 'size' && size) || (feature === 'aspectRatio' && aspectRatio);
    return isLost ? [leftOutNote(model, feature)] : [];
  });
}

function isSize(value: unknown): value is `${number}x${number}` {
  return typeof value === 'string' && /^\d{1,5}x\d{1,5}$/.test(value);
}

function isRatio(value: unknown): value is `${number}:${number}` {
  return typeof value === 'string' && /^\d{1,3}:\d{1,3}$/.test(value);
}
