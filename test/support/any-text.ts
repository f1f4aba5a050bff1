import fc, { type StringConstraints } from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

/**
 * Any character. The unit `binary` of fast-check keeps a map of all of them, which takes 110 MB.
 */
const character = fc.nat(LAST - SURROGATES.count).map(
  index => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  text => {
    const point = String(text).codePointAt(0) ?? 0;
    if (String.fromCodePoint(point) !== text) return Number.NaN;
    return point < SURROGATES.first ? point : point - SURROGATES.count;
  },
);

/** Texts of any characters. */
export function anyText(constraints: Omit<StringConstraints, 'unit'> = {}) {
  return fc.string({ ...constraints, unit: character });
}
