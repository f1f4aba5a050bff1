import type Conf from 'conf';

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Loads `conf`. What it writes files with sends every signal to the process once more, so that one Ctrl-C would count
 * as two: its listeners are taken away again.
 */
export async function loadConf(): Promise<typeof Conf> {
  const before = new Set(ENDING_SIGNALS.flatMap(signal => process.rawListeners(signal)));
  const { default: loaded } = await import('conf');
  for (const signal of ENDING_SIGNALS) {
    for (const listener of process.rawListeners(signal)) {
      if (!before.has(listener)) process.off(signal, listener as () => void);
    }
  }
  return loaded;
}
