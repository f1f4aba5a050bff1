import { useEffect, useState } from '@inquirer/core';
import type { Io } from '../../terminal/io.ts';

/** Has a question drawn again, for its new size, whenever the terminal has got another. */
export function useRedrawing(onResize: Io['onResize']): void {
  const [, setSize] = useState({});
  useEffect(() => onResize(() => setSize({})), []);
}
