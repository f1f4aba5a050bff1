import path from 'node:path';
import { inputsIn, type Piece, piecesOf } from './as-template.ts';
import { ended, promptFileText } from './converted.ts';
import { type ForeignForm, TOP_OF_FILE } from './foreign-form.ts';

/** Matches a variable of fabric, `{{name}}`. */
const VARIABLE = /\{\{([A-Za-z_][\w-]*)\}\}/u;

/** Returns true if a file is a fabric pattern. */
export function isFabricPattern(file: string): boolean {
  return path.basename(file) === 'system.md';
}

/** A fabric pattern: `system.md` and possibly `user.md` in a folder with the pattern's name. */
export const FABRIC_PATTERN: ForeignForm = {
  name: 'a pattern of fabric',
  read({ file, text, beside }) {
    const system = piecesOf(plain(text), VARIABLE);
    const message = piecesOf(plain(beside('user.md') ?? ''), VARIABLE);
    const takesInput = inputsIn(system).includes('input');
    const user: Piece[] = takesInput
      ? message
      : [...message, ...(message.length > 0 ? [{ text: '\n' }] : []), { input: 'input' }];
    const body: Piece[] = [
      { tag: '{{role "system"}}' },
      ...system,
      ...(user.length > 0 ? [{ tag: '{{role "user"}}' }, ...user] : []),
    ];
    return {
      prompt: promptFileText({}, ended(body)),
      places: TOP_OF_FILE,
      name: path.basename(path.dirname(path.resolve(file))),
    };
  },
};

function plain(text: string): string {
  return text
    .replace(/^\uFEFF/u, '')
    .replace(/\r\n?/gu, '\n')
    .trim();
}
