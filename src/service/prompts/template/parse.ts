import { parse as parseHandlebars } from 'handlebars/dist/cjs/handlebars/compiler/base.js';
import { faultAt } from '../../files/yaml-file.ts';
import { toError } from '../../thrown.ts';
import { scanTags, type TagScan } from './open-tags.ts';

/** Parses a template. Throws FileFault with a line counted within the template. */
export function parseTemplate(template: string): hbs.AST.Program {
  const scan = scanTags(template);
  if (scan.past) throw faultAt({ line: scan.past.line, column: 1 }, scan.past.message);
  try {
    return parseHandlebars(template);
  } catch (error) {
    throw explain(toError(error), scan);
  }
}

/** Handlebars draws a picture of the place and lists every token it would have taken; the place is enough. */
function explain(error: Error & { lineNumber?: number; column?: number }, { open }: TagScan): Error {
  const [first = '', ...rest] = error.message.split('\n');
  const expected = rest.at(-1) ?? '';
  const pointer = rest.find(line => /^-*\^$/.test(line));
  const line = error.lineNumber ?? Number(/on line (\d+)/.exec(first)?.[1] ?? 1);
  if (expected.includes('OPEN_ENDBLOCK') && expected.includes("got 'EOF'")) {
    return faultAt({ line: open.at(-1) ?? line, column: 1 }, 'this block is never closed');
  }
  const column = (error.column ?? (isCut(rest) ? 0 : (pointer?.length ?? 1) - 1)) + 1;
  if (/^(Parse|Lexical) error/.test(first)) {
    return faultAt({ line, column }, 'the template can’t be read here');
  }
  return faultAt({ line, column }, first.replace(/ - \d+:\d+$/, ''));
}

/** In the middle of a file the picture begins with dots, and does not show the column. */
function isCut([shown = '']: readonly string[]): boolean {
  return shown.startsWith('...');
}
