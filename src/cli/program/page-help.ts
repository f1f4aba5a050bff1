import type { Command } from 'commander';
import type { HostEnvironment } from '../runtime/create-context.ts';
import { systemClock } from '../runtime/create-context.ts';
import { resolveDirectories } from '../runtime/directories.ts';
import { listenForInterrupts } from '../runtime/signals.ts';
import { Settings } from '../settings/settings.ts';
import type { PlainIo } from '../terminal/io.ts';
import { showInPager } from '../terminal/pager.ts';

/**
 * Shows help that is longer than the screen through the pager. Damaged settings never hide help.
 */
export async function showHelpInPager(
  text: string,
  tree: Command,
  io: PlainIo,
  host: HostEnvironment,
): Promise<void> {
  const { env, process, clock = systemClock } = host;
  const { onInterrupt, uninstall } = listenForInterrupts(process, clock);
  const globals = { pager: tree.opts<{ pager: boolean }>().pager };
  try {
    await showInPager({ io, env, onInterrupt, globals }, text, readPagerSetting(host));
  } finally {
    uninstall();
  }
}

function readPagerSetting(host: HostEnvironment): string | undefined {
  try {
    const { env, cwd, clock = systemClock } = host;
    return new Settings(resolveDirectories(env, cwd).config, clock).get('pager');
  } catch {
    return undefined;
  }
}
