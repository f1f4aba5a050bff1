import type { CommandSpec } from '../../core/command-spec.ts';

const RESOURCES_STATUS_SPEC = {
  summary: 'show the hash, age and file of the cached models',
  examples: ['resources status', 'resources status --query hash'],
} as const satisfies Omit<CommandSpec, 'path'>;

const RESOURCES_REFRESH_SPEC = {
  summary: 'refresh the cached models',
  examples: ['resources refresh'],
} as const satisfies Omit<CommandSpec, 'path'>;

const RESOURCES_LIST_SPEC = {
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

export const RESOURCES = {
  path: 'resources',
  aliases: ['resource'],
  ...RESOURCES_LIST_SPEC,
  summary: 'list the models, refresh the cached list, show its status',
  examples: ['resources', 'resources list --modality image', 'resources refresh'],
} as const satisfies CommandSpec;

export const RESOURCES_LIST = {
  path: 'resources list',
  ...RESOURCES_LIST_SPEC,
} as const satisfies CommandSpec;

export const RESOURCES_REFRESH = {
  path: 'resources refresh',
  ...RESOURCES_REFRESH_SPEC,
} as const satisfies CommandSpec;

export const RESOURCES_STATUS = {
  path: 'resources status',
  ...RESOURCES_STATUS_SPEC,
} as const satisfies CommandSpec;

export const MODELS = {
  path: 'models',
  aliases: ['model'],
  ...RESOURCES_LIST_SPEC,
  summary: 'list the models of a service or the providers of this machine',
  examples: ['models', 'models --cached --query "[].model"', 'models providers'],
} as const satisfies CommandSpec;

export const MODELS_LIST = {
  path: 'models list',
  ...RESOURCES_LIST_SPEC,
  examples: ['models list --modality image'],
} as const satisfies CommandSpec;

export const MODELS_REFRESH = {
  path: 'models refresh',
  ...RESOURCES_REFRESH_SPEC,
  examples: ['models refresh'],
} as const satisfies CommandSpec;

export const MODELS_STATUS = {
  path: 'models status',
  ...RESOURCES_STATUS_SPEC,
  examples: ['models status'],
} as const satisfies CommandSpec;
