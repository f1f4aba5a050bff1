import type { EngineName } from '../models/entry.ts';
import type { Env } from '../outgoing/proxy.ts';
import type { Engine } from './engine.ts';
import { card, clip, echo, sandbox } from './offline.ts';
import { openAiCompatible } from './openai/engine.ts';

export type Engines = Readonly<Record<EngineName, Engine>>;

/** Every engine by its name. `env` holds the keys of the providers. */
export function createEngines({ env }: { env: Env }): Engines {
  return { echo, card, clip, sandbox, 'openai-compatible': openAiCompatible(env) } satisfies Engines;
}
