import type { Command } from 'commander';
import type { Host } from './command.ts';
import type { Candidate } from './complete/candidate.ts';
import { candidatesFor } from './complete/candidates.ts';
import { forBash, forFish, forPowerShell, forZsh } from './complete/format.ts';
import { type Line, parseBashLine, unquoted } from './complete/line.ts';
import { EXIT } from './exit-codes.ts';

/** Declares what the completion scripts call: `__complete <shell> -- …`. */
export function declareComplete(command: Command, host: Host): void {
  command
    .argument('<shell>')
    .argument('[words...]')
    .action((shell: string, words: string[]) =>
      host.act(command, async ctx => {
        const root = command.parent ?? command;
        const complete = (line: Line): Promise<Candidate[]> =>
          candidatesFor(ctx, root, command => host.declare(command), line);
        const lines = await completionLines(shell, words, complete).catch(() => []);
        await ctx.io.out(lines.map(line => `${line}\n`).join(''));
        return EXIT.ok;
      }),
    );
}

type Complete = (line: Line) => Promise<Candidate[]>;

/** What a shell's script is told; each script hands over its line in the way its shell has it. */
export async function completionLines(
  shell: string,
  words: readonly string[],
  complete: Complete,
): Promise<string[]> {
  switch (shell) {
    case 'bash': {
      const line = parseBashLine(words[0] ?? '', words[1] ?? '');
      return forBash(await complete(line), line);
    }
    case 'zsh':
      return forZsh(await complete(lastIsCurrent(words)));
    case 'fish':
      return forFish(
        await complete(
          lastIsCurrent(words.map((word, at) => (at < words.length - 1 ? word : unquoted(word)))),
        ),
      );
    case 'powershell':
      return forPowerShell(await complete(lastIsCurrent(decoded(words[0] ?? ''))));
    default:
      return [];
  }
}

function lastIsCurrent(words: readonly string[]): Line {
  return { words: words.slice(0, -1), current: words.at(-1) ?? '' };
}

/** Base64 of a JSON list: Windows PowerShell loses quotes and empty words among a program's arguments. */
function decoded(text: string): string[] {
  const words: unknown = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  return Array.isArray(words) ? words.filter(word => typeof word === 'string') : [];
}
