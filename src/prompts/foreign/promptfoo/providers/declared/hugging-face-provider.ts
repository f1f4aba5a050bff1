import type { YamlValue } from '../../../../../files/formats/yaml.ts';
import type { ConversionContext } from '../../conversion-context.ts';
import { readMergedValues } from '../../files/merged-values.ts';
import type { EntryFields, WrittenProvider } from '../promptfoo-provider.ts';

/** Matches a model of Hugging Face's text generation. */
export const TEXT_GENERATION_ID = /^(?:huggingface|hf):text-generation:(?<model>[\w./-]+)$/u;

/** The settings that promptfoo sends to the text generation of Hugging Face. */
const GENERATION_KEYS = [
  'top_k',
  'top_p',
  'temperature',
  'repetition_penalty',
  'max_new_tokens',
  'max_time',
  'return_full_text',
  'num_return_sequences',
  'do_sample',
  'use_cache',
  'wait_for_model',
];

/** Returns the fields of the entry for a model of Hugging Face's text generation. */
export function readTextGenerationFields(
  { id, config }: WrittenProvider,
  conversion: ConversionContext,
): EntryFields | undefined {
  const settings = config ? readMergedValues(config, 'config') : new Map<string, YamlValue>();
  const otherInterface = settings.get('apiEndpoint') ?? settings.get('chatCompletion');
  if (otherInterface) {
    conversion.reportOmission(
      otherInterface,
      `the provider \`${id}\` has no equivalent: it has another interface`,
    );
    return undefined;
  }

  const sentSettings = [...settings].filter(([key]) => GENERATION_KEYS.includes(key));
  const parameters = Object.fromEntries(sentSettings.map(([key, value]) => [key, value.toJson()]));
  const model = TEXT_GENERATION_ID.exec(id)?.groups?.['model'] ?? '';

  return {
    fields: {
      address: `https://router.huggingface.co/hf-inference/models/${model}`,
      headers: { authorization: 'Bearer ${env.HF_TOKEN}' },
      body: { inputs: '${prompt}', parameters: { return_full_text: false, ...parameters } },
      output: 'generated_text || [0].generated_text',
    },
  };
}
