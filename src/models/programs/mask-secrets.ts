import type { Env } from '../../utils/env.ts';
import type { EngineResult } from '../engine.ts';
import { maskKeys } from '../providers/mask-keys.ts';

/**
 * Masks secrets, and all that looks like a key, in the messages of a failed result. Returns any
 * other result unchanged.
 */
export function maskSecrets(result: EngineResult, secrets: readonly string[]): EngineResult {
  if (!result.hasFailed) return result;
  const spellings = secrets.flatMap(secret => [secret, encodeURIComponent(secret)]);
  return {
    ...result,
    outputs: result.outputs.map(output =>
      output.type === 'error'
        ? { ...output, message: maskKeys(output.message, ...spellings) }
        : output,
    ),
  };
}

/** Returns the values of variables whose names say that they hold a secret. */
export function collectSecrets(env: Env): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const secret = /(?:KEY|TOKEN|SECRET|PASSWORD)$/iu.test(name) ? value?.trim() : undefined;
    return secret === undefined || secret === '' ? [] : [secret];
  });
}
