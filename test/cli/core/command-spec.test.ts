import { expect, expectTypeOf, it } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import type { CommandSpec, FlagsOf, InputOf } from '../../../src/cli/core/command-spec.ts';
import { defineCommand } from '../../../src/cli/program/program-command.ts';

const SPEC = {
  path: 'paint',
  summary: 'paint a picture',
  arguments: [
    ['<subject>', 'what to paint'],
    ['[colour]', 'in which colour'],
    ['[more...]', 'what else'],
  ],
  flags: [
    ['-q, --quick', 'in a hurry'],
    ['--max-cost <dollars>', 'stop there'],
    ['--save [dir]', 'keep it'],
    ['--no-frame', 'leave the frame out'],
    ['--size <size>', 'how large', { choices: ['small', 'large'] }],
    ['--title <title>', 'its title', { default: 'untitled' }],
    ['-m, --model <model>', 'who paints', { repeats: true }],
  ],
  examples: [],
} as const satisfies CommandSpec;

it('derives the types of arguments and flags from the declaration', () => {
  expectTypeOf<InputOf<typeof SPEC>>().toExtend<
    [string, string | undefined, readonly string[], FlagsOf<typeof SPEC.flags>]
  >();
  const flags: FlagsOf<typeof SPEC.flags> = {
    frame: true,
    title: 'Sea',
    model: ['a'],
    maxCost: '1',
    save: true,
  };
  expectTypeOf(flags.quick).toEqualTypeOf<boolean | undefined>();
  expectTypeOf(flags.save).toEqualTypeOf<string | true | undefined>();
  expectTypeOf(flags.size).toEqualTypeOf<'small' | 'large' | undefined>();
  expectTypeOf(flags.title).toEqualTypeOf<string>();
  expectTypeOf(flags.frame).toEqualTypeOf<boolean>();
  expectTypeOf(flags.model).toEqualTypeOf<readonly string[]>();

  // @ts-expect-error there is no such flag
  expect(flags.quik).toBeUndefined();

  const takeNumberAsSubject = async (_ctx: Context, _subject: number): Promise<void> => {};

  // @ts-expect-error the first argument is a text
  defineCommand(SPEC, async () => takeNumberAsSubject);

  const takeUndeclaredFlag = async (
    _ctx: Context,
    _subject: string,
    _colour: unknown,
    _more: unknown,
    _flags: { quik: boolean },
  ) => {};

  // @ts-expect-error it declares no such flag
  defineCommand(SPEC, async () => takeUndeclaredFlag);
});
