import type { CommandSpec } from '../../core/command-spec.ts';

// `models` has every command of `resources`, and those of `commands/models`.

const LIST_FIELDS = {
  summary: 'list the models and their run options',
  flags: [
    [
      '--modality <modality>',
      'list only models for text, image or video',
      { completes: ['text', 'image', 'video'] },
    ],
    ['--model <model>', 'list only this model'],
    ['--cached', 'list the cached models, send nothing'],
  ],
  examples: ['resources list --modality image', 'resources --cached --query "[].model"'],
  notes: 'Columns when piped: model, modality, run options (key=value,value …).',
} as const satisfies Omit<CommandSpec, 'path'>;

const REFRESH_FIELDS = {
  summary: 'refresh the cached models',
  examples: ['resources refresh'],
} as const satisfies Omit<CommandSpec, 'path'>;

const STATUS_FIELDS = {
  summary: 'show the hash, age and file of the cached models',
  examples: ['resources status', 'resources status --query hash'],
} as const satisfies Omit<CommandSpec, 'path'>;

export const RESOURCES = {
  path: 'resources',
  aliases: ['resource'],
  summary: 'list the models, refresh the cached list, show its status',
  flags: LIST_FIELDS.flags,
  examples: ['resources', 'resources list --modality image', 'resources refresh'],
  notes: LIST_FIELDS.notes,
} as const satisfies CommandSpec;

export const RESOURCES_LIST = {
  path: 'resources list',
  ...LIST_FIELDS,
} as const satisfies CommandSpec;

export const RESOURCES_REFRESH = {
  path: 'resources refresh',
  ...REFRESH_FIELDS,
} as const satisfies CommandSpec;

export const RESOURCES_STATUS = {
  path: 'resources status',
  ...STATUS_FIELDS,
} as const satisfies CommandSpec;

export const MODELS = {
  path: 'models',
  aliases: ['model'],
  summary: 'list the models of a service or the providers of this machine',
  flags: LIST_FIELDS.flags,
  examples: ['models', 'models --cached --query "[].model"', 'models providers'],
  notes: LIST_FIELDS.notes,
} as const satisfies CommandSpec;

export const MODELS_LIST = {
  path: 'models list',
  ...LIST_FIELDS,
  examples: ['models list --modality image'],
} as const satisfies CommandSpec;

export const MODELS_REFRESH = {
  path: 'models refresh',
  ...REFRESH_FIELDS,
  examples: ['models refresh'],
} as const satisfies CommandSpec;

export const MODELS_STATUS = {
  path: 'models status',
  ...STATUS_FIELDS,
  examples: ['models status'],
} as const satisfies CommandSpec;
