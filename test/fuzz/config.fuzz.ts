import fc from 'fast-check';
import { readInputFields } from '../../src/cli/inputs/read-input-fields.ts';
import { type Fuzzed, fuzzed, withDeadline } from './fuzzed.ts';

const NAMES =
  'textInputs imageInputs inputsJTD variables images properties optionalProperties enum metadata imageCount type description defaultValues allowEmpty options multiple required default name __proto__ constructor toString 0';

const name = fc.constantFrom(...NAMES.split(' '), '');

const { config } = fc.letrec<{ config: unknown }>(tie => ({
  config: fc.oneof(
    { depthSize: 'medium' },
    fc.oneof(
      fc.constantFrom('string', 'select', 'boolean', ''),
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.string(),
    ),
    fc.array(tie('config'), { maxLength: 4 }),
    fc.dictionary(name, tie('config'), { maxKeys: 6 }),
  ),
}));

export default [
  fuzzed('a config says what it asks for, or that this is not known', config, async value => {
    const described = await withDeadline(() => readInputFields(value));
    const keys = described.text.map(({ key }) => key);
    if (new Set(keys).size !== keys.length) throw new Error('a key is asked for twice');
    return keys.every(key => typeof key === 'string') && described.images.length <= 100;
  }),

  fuzzed(
    'a config as large as it likes is described soon',
    fc.tuple(name, name, fc.integer({ min: 1, max: 2000 })),
    async ([outer, inner, count]) => {
      const fields = Object.fromEntries(
        Array.from({ length: count }, (_, nth) => [`k${nth}`, { [inner]: nth }]),
      );
      await withDeadline(() => readInputFields({ [outer]: fields }));
    },
  ),
] satisfies readonly Fuzzed[];
