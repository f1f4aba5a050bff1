import { type Engine, type EngineJob, type EngineResult, failedWith, roughTokens } from './engine.ts';

/** Rehearses slow runs and failures: waits `delaySeconds`, then ends as `outcome` says. */
export const sandbox: Engine = {
  run: async job => {
    const seconds = Number(job.runOptions['delaySeconds'] ?? 0);
    if (seconds > 0) await job.sleep(seconds * 1000, job.signal);
    return ending(job);
  },
};

const REHEARSED = 'This failure was asked for with outcome=';

function ending({ prompt: { text }, runOptions }: EngineJob): EngineResult {
  const said = { type: 'text', text } as const;
  switch (runOptions['outcome'] ?? 'succeeded') {
    case 'failed':
      return failedWith(`${REHEARSED}failed`);
    case 'partial':
      return {
        outputs: [said, { type: 'error', message: `${REHEARSED}partial` }],
        tokens: roughTokens(text),
        failed: false,
      };
    default:
      return { outputs: [said], tokens: roughTokens(text), failed: false };
  }
}
