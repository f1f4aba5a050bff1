import type { Env } from '../models/openai.ts';
import { card } from './card.ts';
import { echo } from './echo.ts';
import type { Engine } from './engine.ts';
import type { EngineName } from './names.ts';
import { openAiCompatible } from './openai/engine.ts';
import { sandbox } from './sandbox.ts';

export type Engines = Readonly<Record<EngineName, Engine>>;

/** Every engine by its name. `env` holds the keys of the providers. */
export function createEngines({ env }: { env: Env }): Engines {
  return { echo, card, sandbox, 'openai-compatible': openAiCompatible(env) } satisfies Engines;
}
