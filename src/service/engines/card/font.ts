import { readFile } from 'node:fs/promises';
import { installedFile } from '../../../files/installed-file.ts';

const NAME = 'DejaVuSans.ttf';

/** The one font cards are drawn with, so that they look the same everywhere. */
export interface Font {
  readonly file: string;
  readonly family: string;
  /** How far a character moves the pen, in ems. */
  readonly advance: (codePoint: number) => number;
}

/** @throws {Error} if the font is not installed */
export async function loadFont(): Promise<Font> {
  const file = installedFile(
    `dist/assets/${NAME}`,
    `assets/${NAME}`,
    `node_modules/dejavu-fonts-ttf/ttf/${NAME}`,
  );
  const bytes = await readFile(file);
  const advance = readAdvances(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return { file, family: 'DejaVu Sans', advance };
}

/** Reads the widths out of a TrueType file: `cmap` gives the glyph of a character, `hmtx` the advance of a glyph. */
function readAdvances(font: DataView): (codePoint: number) => number {
  const tables = readTables(font);
  const table = (tag: string): number => tables.get(tag) ?? 0;
  const unitsPerEm = font.getUint16(table('head') + 18);
  const metrics = font.getUint16(table('hhea') + 34);
  const glyphOf = readGroups(font, table('cmap'));
  return codePoint => {
    const glyph = Math.min(glyphOf(codePoint), metrics - 1);
    return font.getUint16(table('hmtx') + glyph * 4) / unitsPerEm;
  };
}

function readTables(font: DataView): Map<string, number> {
  const tables = new Map<string, number>();
  for (let index = 0; index < font.getUint16(4); index += 1) {
    const record = 12 + index * 16;
    const tag = String.fromCharCode(...[0, 1, 2, 3].map(offset => font.getUint8(record + offset)));
    tables.set(tag, font.getUint32(record + 8));
  }
  return tables;
}

/** The segments of the full Unicode table (format 12): from, to, first glyph. Characters outside are glyph 0, an empty box. */
function readGroups(font: DataView, cmap: number): (codePoint: number) => number {
  const subtable = findFullTable(font, cmap);
  const groups = Array.from({ length: font.getUint32(subtable + 12) }, (_, index) => {
    const group = subtable + 16 + index * 12;
    return { from: font.getUint32(group), to: font.getUint32(group + 4), glyph: font.getUint32(group + 8) };
  });
  return codePoint => {
    const group = groups.find(({ from, to }) => codePoint >= from && codePoint <= to);
    return group ? group.glyph + codePoint - group.from : 0;
  };
}

function findFullTable(font: DataView, cmap: number): number {
  for (let index = 0; index < font.getUint16(cmap + 2); index += 1) {
    const subtable = cmap + font.getUint32(cmap + 4 + index * 8 + 4);
    if (font.getUint16(subtable) === 12) return subtable;
  }
  throw new Error(`${NAME} has no full Unicode table`);
}
