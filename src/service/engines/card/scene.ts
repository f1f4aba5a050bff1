import { createHash } from 'node:crypto';
import type { Box } from './layout.ts';

/** Skies and the hills below them, as hues: noon, dawn, dusk, aurora, a summer evening. */
const PALETTES = [
  { high: 205, low: 190, far: 165, near: 150 },
  { high: 350, low: 30, far: 265, near: 245 },
  { high: 262, low: 325, far: 250, near: 230 },
  { high: 185, low: 150, far: 205, near: 215 },
  { high: 22, low: 48, far: 350, near: 335 },
] as const;

/** A landscape that follows from the text: the same text is the same picture. */
export function scene(text: string, { width, height }: Box): string {
  const { palette, sunX, lift } = traits(text);
  const far = height * (0.62 - lift * 0.08);
  const near = height * (0.8 - lift * 0.05);
  return [
    `<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">`,
    `<stop offset="0" stop-color="hsl(${palette.high}, 65%, 62%)"/>`,
    `<stop offset="1" stop-color="hsl(${palette.low}, 80%, 88%)"/></linearGradient></defs>`,
    `<rect width="${width}" height="${height}" fill="url(#sky)"/>`,
    `<circle cx="${width * sunX}" cy="${height * 0.11}" r="${height * 0.1}" fill="#fff7dd" fill-opacity="0.9"/>`,
    hills(width, height, far, `hsl(${palette.far}, 32%, 62%)`, 0.09),
    hills(width, height, near, `hsl(${palette.near}, 36%, 44%)`, -0.07),
  ].join('');
}

/** Where the sun stands, as a share of the width, and how high the hills are, from 0 to 1. */
function traits(text: string): { palette: (typeof PALETTES)[number]; sunX: number; lift: number } {
  const digest = createHash('sha256').update(text).digest();
  return {
    palette: PALETTES[digest.readUInt8(0) % PALETTES.length] ?? PALETTES[0],
    sunX: 0.15 + (digest.readUInt8(1) / 255) * 0.7,
    lift: digest.readUInt8(2) / 255,
  };
}

function hills(width: number, height: number, top: number, colour: string, swing: number): string {
  const dip = height * swing;
  const curve = `M0 ${top} C${width * 0.25} ${top - dip * 2} ${width * 0.35} ${top + dip} ${width * 0.55} ${top}`;
  return `<path d="${curve} S${width * 0.85} ${top + dip} ${width} ${top - dip} V${height} H0 Z" fill="${colour}"/>`;
}
