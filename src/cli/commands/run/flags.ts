import type { OutputFlags } from '../../outputs/output-flags.ts';

/** The flags of `run`, as commander gives them. */
export interface RunFlags extends OutputFlags {
  readonly input: readonly string[];
  readonly inputs?: string;
  readonly image: readonly string[];
  readonly option: readonly string[];
  readonly validate: boolean;
  readonly wait: boolean;
  readonly dryRun?: boolean;
}
