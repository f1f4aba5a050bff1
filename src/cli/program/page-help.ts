import type { Command } from 'commander';
import type { Surroundings } from '../runtime/create-context.ts';
import { systemClock } from '../runtime/create-context.ts';
import { directories } from '../runtime/directories.ts';
import { listenForInterrupts } from '../runtime/signals.ts';
import { Settings } from '../settings/settings.ts';
import type { PlainIo } from '../terminal/io.ts';
import { showInPager } from '../terminal/pager.ts';

/** Shows help that is longer than the screen through the pager. Damaged settings never hide help. */
export async function pageHelp(
  text: string,
  tree: Command,
  io: PlainIo,
  surroundings: Surroundings,
): Promise<void> {
  const { env, process, clock = systemClock } = surroundings;
  const { onInterrupt, uninstall } = listenForInterrupts(process, clock);
  const globals = { pager: tree.opts<{ pager: boolean }>().pager };
  try {
    await showInPager({ io, env, onInterrupt, globals }, text, pagerSetting(surroundings));
  } finally {
    uninstall();
  }
}

function pagerSetting(surroundings: Surroundings): string | undefined {
  try {
    const { env, cwd, clock = systemClock } = surroundings;
    return new Settings(directories(env, cwd).config, clock).get('pager');
  } catch {
    return undefined;
  }
}
