import type { Miniature } from './miniature.ts';

/** Each of red, green and blue takes one of this many levels, so that there are 216 colours in all. */
const LEVELS = 6;
const BAND = 6;

/** A picture as sixels, on a palette of 216 colours; what is transparent stays the background. */
export function sixel({ width, height, pixels }: Miniature): string {
  const colours = indexed(pixels, width * height);
  const used = [...new Set(colours)].filter(colour => colour >= 0).toSorted((one, other) => one - other);
  const bands = Array.from({ length: Math.ceil(height / BAND) }, (_, band) =>
    bandOf(colours, width, Math.min(BAND, height - band * BAND), band * BAND * width),
  );
  return `\u001BP0;1q"1;1;${width};${height}${used.map(definition).join('')}${bands.join('-')}\u001B\\`;
}

/** The palette's colour of each pixel, -1 where it is more transparent than not. */
function indexed(pixels: Uint8Array, count: number): Int16Array {
  const level = (value: number | undefined): number => Math.round(((value ?? 0) / 255) * (LEVELS - 1));
  return Int16Array.from({ length: count }, (_, pixel) => {
    const at = pixel * 4;
    if ((pixels[at + 3] ?? 0) < 128) return -1;
    return (level(pixels[at]) * LEVELS + level(pixels[at + 1])) * LEVELS + level(pixels[at + 2]);
  });
}

/** Components in percent, as sixels have them. */
function definition(colour: number): string {
  const percent = (value: number): number => Math.round(((value % LEVELS) / (LEVELS - 1)) * 100);
  const [red, green, blue] = [colour / LEVELS ** 2, colour / LEVELS, colour].map(part =>
    percent(Math.floor(part)),
  );
  return `#${colour};2;${red};${green};${blue}`;
}

/** Six rows at once: for each colour in them a line of characters whose bits say which rows have it. */
function bandOf(colours: Int16Array, width: number, rows: number, start: number): string {
  const lines = new Map<number, Uint8Array>();
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const colour = colours[start + row * width + column] ?? -1;
      if (colour < 0) continue;
      const line = lines.get(colour) ?? new Uint8Array(width);
      line[column] = (line[column] ?? 0) | (1 << row);
      lines.set(colour, line);
    }
  }
  return [...lines].map(([colour, bits]) => `#${colour}${packed(bits)}`).join('$');
}

/** Runs of the same character are counted instead of repeated. */
function packed(bits: Uint8Array): string {
  return String.fromCharCode(...bits.map(value => value + 63)).replace(
    /(.)\1{3,}/gsu,
    run => `!${run.length}${run[0]}`,
  );
}
