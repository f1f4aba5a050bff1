import type { Context } from '../context.ts';

/** The flags of every command that gives the outputs of a run. */
export interface OutputFlags {
  /** True where no directory is named. */
  readonly save?: string | true;
  readonly force?: boolean;
  readonly preview: boolean;
}

/** Where outputs are saved, relative to the working directory; undefined where they are not. */
export function saveDirectory(ctx: Context, { save }: Pick<OutputFlags, 'save'>): string | undefined {
  return save === true ? (ctx.settings.get('saveDir') ?? '.') : save;
}

/** Whether pictures may be shown; the terminal still has to be able to. */
export function wantsPreview(ctx: Context, { preview }: Pick<OutputFlags, 'preview'>): boolean {
  return preview && ctx.io.stdout.isTerminal && (ctx.settings.get('preview') ?? true);
}
