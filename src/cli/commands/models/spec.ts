import type { CommandSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, MODELS_FLAG } from '../../core/shared-flags.ts';

export const MODELS_DISCOVER = {
  path: 'models discover',
  summary: 'write the models of your endpoints to models.yaml',
  examples: [
    'OPENAI_API_KEY=… promptrun models discover',
    'OPENAI_BASE_URL=http://localhost:8000/v1 promptrun models discover',
  ],
  notes: `Asks the providers whose keys are set (promptrun models providers lists \
them), those that models.yaml describes, and Ollama on this machine (OLLAMA_HOST, \
or port 11434). What models.yaml says already stays as it is.
Piped, a line is: provider, base URL, models added, models known before, what went wrong.`,
} as const satisfies CommandSpec;

export const MODELS_PROVIDERS = {
  path: 'models providers',
  summary: 'the providers whose models need no description, and whether their keys are set',
  examples: ['models providers', 'models providers --json'],
  notes: `A model's name may begin with one of them: openai/gpt-6-luna.
<NAME>_BASE_URL moves one (GEMINI_BASE_URL for googleai, OLLAMA_HOST too); \
models.yaml may describe more, under providers.
Piped, a line is: provider, address, variables that may hold its key, whether one is set.`,
} as const satisfies CommandSpec;

export const MODELS_CHECK = {
  path: 'models check',
  summary: 'ask models for one word each, to see that they answer',
  arguments: [['[model...]', 'the models to ask; default: every program and address that is declared']],
  flags: [MODELS_FLAG, ...CAP_FLAGS],
  examples: [
    'models check',
    'models check openai/gpt-6-luna --max-cost 0.01',
    'models check --models models.yaml',
  ],
  notes: `Shows what came, how long it took and what it cost. Exit 5 if a model failed, \
8 if the cap left one unasked.
Piped, a line is: model, status, seconds, dollars, answer.`,
} as const satisfies CommandSpec;
