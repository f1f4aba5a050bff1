import type { Miniature } from './miniature.ts';

/** Widest and highest, in cells of the terminal; a cell shows two pixels, one above the other. */
const MOST_COLUMNS = 48;
const MOST_ROWS = 16;

/** A picture as upper halves of blocks in 24-bit colour, for terminals that show no pictures. */
export function halfBlocks(picture: Miniature): string {
  const scale = Math.min(1, MOST_COLUMNS / picture.width, (MOST_ROWS * 2) / picture.height);
  const columns = Math.max(1, Math.round(picture.width * scale));
  const rows = Math.max(1, Math.ceil((picture.height * scale) / 2));
  const lines = Array.from({ length: rows }, (_, row) => {
    const cells = Array.from({ length: columns }, (_, column) =>
      cell(
        colourAt(picture, column / columns, 1 / columns, row / rows, 1 / rows / 2),
        colourAt(picture, column / columns, 1 / columns, (row + 0.5) / rows, 1 / rows / 2),
      ),
    );
    return `${cells.join('')}\u001B[0m`;
  });
  return lines.join('\n');
}

type Colour = readonly [red: number, green: number, blue: number];

/** The mean of a part of the picture, given as shares of its width and height; undefined where it is transparent. */
function colourAt(
  { width, height, pixels }: Miniature,
  left: number,
  wide: number,
  top: number,
  high: number,
): Colour | undefined {
  const sums = [0, 0, 0, 0];
  const [fromX, toX] = [
    Math.floor(left * width),
    Math.max(Math.floor(left * width) + 1, Math.floor((left + wide) * width)),
  ];
  const [fromY, toY] = [
    Math.floor(top * height),
    Math.max(Math.floor(top * height) + 1, Math.floor((top + high) * height)),
  ];
  for (let y = fromY; y < Math.min(toY, height); y += 1) {
    for (let x = fromX; x < Math.min(toX, width); x += 1) {
      const at = (y * width + x) * 4;
      if ((pixels[at + 3] ?? 0) < 128) continue;
      for (const part of [0, 1, 2]) sums[part] = (sums[part] ?? 0) + (pixels[at + part] ?? 0);
      sums[3] = (sums[3] ?? 0) + 1;
    }
  }
  const [red = 0, green = 0, blue = 0, count = 0] = sums;
  if (count * 2 < (toX - fromX) * (toY - fromY)) return undefined;
  return [Math.round(red / count), Math.round(green / count), Math.round(blue / count)];
}

function cell(upper: Colour | undefined, lower: Colour | undefined): string {
  if (upper === undefined && lower === undefined) return '\u001B[0m ';
  if (upper === undefined) return `\u001B[0;38;2;${lower?.join(';')}m▄`;
  if (lower === undefined) return `\u001B[0;38;2;${upper.join(';')}m▀`;
  return `\u001B[38;2;${upper.join(';')};48;2;${lower.join(';')}m▀`;
}
