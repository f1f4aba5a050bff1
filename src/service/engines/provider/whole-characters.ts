import type { EngineJob } from '../engine.ts';

/** Holds back half a character, which servers sometimes send in two pieces. */
export function wholeCharacters(onText: EngineJob['onText']): (piece: string) => void {
  let rest = '';
  return piece => {
    const text = rest + piece;
    const isHalf = /[\uD800-\uDBFF]$/.test(text);
    rest = isHalf ? text.slice(-1) : '';
    const whole = isHalf ? text.slice(0, -1) : text;
    if (whole !== '') onText?.(whole);
  };
}
