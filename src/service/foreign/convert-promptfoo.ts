import type { Converted, ConvertOptions } from './converted.ts';

export function convertPromptfoo(_text: string, _file: string, _options: ConvertOptions): Promise<Converted> {
  return Promise.reject(new Error('not yet'));
}
