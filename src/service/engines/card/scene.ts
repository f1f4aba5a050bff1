import { createHash } from 'node:crypto';
import type { Box } from './layout.ts';

/** A landscape in colours that follow from the text: the same text is the same picture. */
export function scene(text: string, { width, height }: Box): string {
  const [hue, sunX, lift] = traits(text);
  const far = height * (0.62 - lift * 0.08);
  const near = height * (0.8 - lift * 0.05);
  return [
    `<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">`,
    `<stop offset="0" stop-color="hsl(${hue}, 62%, 62%)"/>`,
    `<stop offset="1" stop-color="hsl(${(hue + 40) % 360}, 78%, 88%)"/></linearGradient></defs>`,
    `<rect width="${width}" height="${height}" fill="url(#sky)"/>`,
    `<circle cx="${width * (0.2 + sunX * 0.6)}" cy="${height * 0.17}" r="${height * 0.12}" fill="#fff7dd" fill-opacity="0.85"/>`,
    hills(width, height, far, `hsl(${(hue + 60) % 360}, 35%, 60%)`, 0.09),
    hills(width, height, near, `hsl(${(hue + 75) % 360}, 40%, 42%)`, -0.07),
  ].join('');
}

/** Hue in degrees, then two numbers from 0 to 1. */
function traits(text: string): [number, number, number] {
  const digest = createHash('sha256').update(text).digest();
  return [digest.readUInt16BE(0) % 360, digest.readUInt8(2) / 255, digest.readUInt8(3) / 255];
}

function hills(width: number, height: number, top: number, colour: string, swing: number): string {
  const dip = height * swing;
  const curve = `M0 ${top} C${width * 0.25} ${top - dip * 2} ${width * 0.35} ${top + dip} ${width * 0.55} ${top}`;
  return `<path d="${curve} S${width * 0.85} ${top + dip} ${width} ${top - dip} V${height} H0 Z" fill="${colour}"/>`;
}
