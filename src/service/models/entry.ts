import type { Modality, Model, RunOption } from '../../wire/index.ts';

/** The engines a model can be run by. */
export type EngineName = 'echo' | 'card' | 'sandbox' | 'openai-compatible';

/** Where a model is reached; without it the engine needs none. */
export interface Provider {
  readonly name: string;
  /** Undefined is the provider's own, official endpoint. */
  readonly baseUrl?: string;
  /** The environment variable that holds the key; undefined sends none. */
  readonly apiKeyEnv?: string;
}

/** A model the service offers. */
export interface ModelEntry {
  readonly model: string;
  readonly modality: Modality;
  readonly engine: EngineName;
  readonly provider?: Provider;
  /** The provider's name of it, where it differs from `model`. */
  readonly id?: string;
  readonly runOptions: readonly RunOption[];
  /** What a run costs. */
  readonly credits: number;
}

/** The model as `GET /resources` shows it (interface §2). */
export function wireModel({ model, modality, runOptions }: ModelEntry): Model {
  return {
    model,
    modality,
    availableRunOptions: runOptions.map(({ key, options }) => ({ key, options: [...options] })),
  };
}
