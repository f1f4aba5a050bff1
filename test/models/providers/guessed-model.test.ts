import { expect, it } from 'vitest';
import { guessModality } from '../../../src/models/providers/guessed-model.ts';

it.each([
  'gpt-image-2',
  'imagen-4',
  'dall-e-3',
  'FLUX.2-pro',
  'stable-diffusion-xl',
  'x-kontext',
  'amazon.nova-canvas-v1:0',
])('a model whose name is %s draws', name => {
  expect(guessModality(name)).toBe('image');
});

it('any other model writes', () => {
  expect(guessModality('gpt-5.6')).toBe('text');
});
