import type { Command } from 'commander';
import type { Host } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import { resolveAddress } from '../../settings/config/address.ts';
import { promptsList } from './list.ts';

/** Without a verb: the prompts there are, where this machine's own service can list them, else what can be done. */
export function declarePrompts(command: Command, host: Host, list = promptsList): void {
  command.action(() =>
    host.runAction(command, async ctx => {
      if (resolveAddress(ctx).embedded) return list(ctx);
      command.outputHelp();
      return EXIT.ok;
    }),
  );
}
