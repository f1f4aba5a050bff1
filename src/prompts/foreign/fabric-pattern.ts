import path from 'node:path';
import { formatPromptFile, withEndMark } from './file-texts.ts';
import { type ForeignFormat, TOP_OF_FILE } from './foreign-format.ts';
import { noteMatchingLines } from './markdown.ts';
import { listInputs, type Piece, splitAtInputs } from './template-pieces.ts';

/** Matches a variable of fabric, `{{name}}`. */
const FABRIC_VARIABLE = /\{\{([A-Za-z_][\w-]*)\}\}/u;

/** Matches the call of a plug-in or an extension, such as `{{plugin:datetime:today}}`. */
const PLUGIN_TAG = /\{\{(?:plugin|ext):[^{}\n]*(?:\}\})?/u;

export function isFabricPattern(file: string): boolean {
  return path.basename(file) === 'system.md';
}

/** A fabric pattern: `system.md` and possibly `user.md` in a folder with the pattern's name. */
export const FABRIC_PATTERN: ForeignFormat = {
  name: 'a pattern of fabric',
  read({ file, text, readSibling }, findings) {
    noteMatchingLines(
      { body: text, bodyLine: 1 },
      PLUGIN_TAG,
      findings,
      match => `${match} is not carried out: it is sent as text`,
    );

    const system = splitAtInputs(normaliseFabricText(text), FABRIC_VARIABLE);
    const userTemplate = splitAtInputs(
      normaliseFabricText(readSibling('user.md') ?? ''),
      FABRIC_VARIABLE,
    );
    const usesInput = listInputs([...system, ...userTemplate]).includes('input');
    const message: Piece[] = usesInput
      ? userTemplate
      : [...userTemplate, ...(userTemplate.length > 0 ? [{ text: '\n' }] : []), { input: 'input' }];
    const body: Piece[] = [
      { tag: '{{role "system"}}' },
      ...system,
      ...(message.length > 0 ? [{ tag: '{{role "user"}}' }, ...message] : []),
    ];

    return {
      prompt: formatPromptFile({}, withEndMark(body)),
      places: TOP_OF_FILE,
      name: path.basename(path.dirname(path.resolve(file))),
    };
  },
};

function normaliseFabricText(text: string): string {
  return text
    .replace(/^\uFEFF/u, '')
    .replace(/\r\n?/gu, '\n')
    .trim();
}
