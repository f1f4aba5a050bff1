import type { CommandSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, MODELS_FLAG } from '../../core/shared-flags.ts';

export const MODELS_DISCOVER = {
  path: 'models discover',
  summary: 'write the models of your endpoints to models.yaml',
  examples: ['models discover', 'models discover --json'],
  notes: `Asks the providers whose keys are set (see promptrun models providers), those \
that models.yaml describes, the address in OPENAI_BASE_URL, and Ollama on this machine \
(OLLAMA_HOST, or port 11434). Existing entries of models.yaml stay unchanged.
Columns when piped: provider, base URL, models added, models known before, error.`,
} as const satisfies CommandSpec;

export const MODELS_PROVIDERS = {
  path: 'models providers',
  summary: 'list the known providers and show if their keys are set',
  examples: ['models providers', 'models providers --json'],
  notes: `Begin a model's name with its provider, as in openai/gpt-6-luna.
<NAME>_BASE_URL changes the address of a provider (GEMINI_BASE_URL for googleai; \
OLLAMA_HOST also works). Describe more providers in models.yaml, under providers.
Columns when piped: provider, address, variables for its key, key set or not.`,
} as const satisfies CommandSpec;

export const MODELS_CHECK = {
  path: 'models check',
  summary: 'ask each model for one word, to see if it answers',
  arguments: [['[model...]', 'the models to ask (default: every declared program and address)']],
  flags: [MODELS_FLAG, ...CAP_FLAGS],
  examples: [
    'models check',
    'models check openai/gpt-6-luna --max-cost 0.01',
    'models check --models models.yaml',
  ],
  notes: `Shows each answer, its time and its cost. Exits with 5 if a model failed, with 8 \
if the cap was reached before every model was asked.
Columns when piped: model, status, seconds, dollars, answer.`,
} as const satisfies CommandSpec;
