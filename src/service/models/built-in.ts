import type { ModelEntry } from './entry.ts';

/** The models that need nothing but this process. */
export const BUILT_IN_MODELS: readonly ModelEntry[] = [
  { model: 'echo', modality: 'text', engine: 'echo', runOptions: [], credits: 1 },
  {
    model: 'card',
    modality: 'image',
    engine: 'card',
    runOptions: [{ key: 'quality', options: ['low', 'medium', 'high'] }],
    credits: 4,
  },
  { model: 'clip', modality: 'video', engine: 'clip', runOptions: [], credits: 8 },
  {
    model: 'sandbox',
    modality: 'text',
    engine: 'sandbox',
    runOptions: [
      { key: 'delaySeconds', options: ['0', '1', '5', '30', '130'] },
      { key: 'outcome', options: ['succeeded', 'failed', 'partial'] },
    ],
    credits: 1,
  },
];

/** Names no other model can take. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(BUILT_IN_MODELS.map(({ model }) => model));
