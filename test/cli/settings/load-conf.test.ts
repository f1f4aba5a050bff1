import { expect, test } from 'vitest';
import { loadConf } from '../../../src/cli/settings/json-file.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

test('writing settings leaves signals to the command', async () => {
  const listeners = (): number => SIGNALS.reduce((sum, signal) => sum + process.listenerCount(signal), 0);
  const before = listeners();
  await loadConf();
  expect(listeners()).toBe(before);
});
