import { formatPromptFile, withEndMark } from './file-texts.ts';
import { type ForeignFormat, TOP_OF_FILE } from './foreign-format.ts';
import { readMarkdown, reportMissingText } from './markdown.ts';

/** Any Markdown or text file: instructions for an input, or a complete message. */
export const PLAIN_TEXT: ForeignFormat = {
  name: 'a text',
  read({ text }, findings) {
    const markdown = readMarkdown(text);
    reportMissingText(markdown, findings);
    const { body } = markdown;
    const template = withEndMark([
      { tag: '{{#if input}}' },
      { tag: '{{role "system"}}' },
      { text: body },
      { tag: '{{role "user"}}' },
      { input: 'input' },
      { tag: '{{else}}' },
      { text: body },
      { tag: '{{/if}}' },
    ]);

    return { prompt: formatPromptFile({}, template, { optional: ['input'] }), places: TOP_OF_FILE };
  },
};
