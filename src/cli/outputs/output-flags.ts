import type { Context } from '../context.ts';
import type { RunFacts } from './manifest.ts';
import type { GiveOptions } from './results.ts';

/** The flags of every command that gives the outputs of a run. */
export interface OutputFlags {
  /** True where no directory is named. */
  readonly save?: string | true;
  readonly force?: boolean;
  readonly preview: boolean;
}

/**
 * How outputs are to be given, once the facts of their run are known. Settings are read at once, so that one that is
 * damaged costs no run.
 */
export function outputPlan(ctx: Context, flags: OutputFlags): (facts: RunFacts) => GiveOptions {
  const directory = flags.save === true ? (ctx.settings.get('saveDir') ?? '.') : flags.save;
  const preview = flags.preview && ctx.io.stdout.isTerminal && (ctx.settings.get('preview') ?? true);
  const force = flags.force === true;
  return facts => ({ preview, ...(directory !== undefined && { save: { directory, force, facts } }) });
}
