import { ended, promptFileText } from './converted.ts';
import { type ForeignForm, TOP_OF_FILE } from './foreign-form.ts';
import { readMarkdown } from './markdown.ts';

/** Any Markdown or text file: instructions for an input, or a complete message. */
export const PLAIN_TEXT: ForeignForm = {
  name: 'a text',
  read({ text }) {
    const { body } = readMarkdown(text);
    const template = ended([
      { tag: '{{#if input}}' },
      { tag: '{{role "system"}}' },
      { text: body },
      { tag: '{{role "user"}}' },
      { input: 'input' },
      { tag: '{{else}}' },
      { text: body },
      { tag: '{{/if}}' },
    ]);
    return { prompt: promptFileText({}, template, { optional: ['input'] }), places: TOP_OF_FILE };
  },
};
