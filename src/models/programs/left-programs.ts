import { existsSync } from 'node:fs';
import path from 'node:path';

/** Returns the folder in which running programs are written down. */
export function recordsOf(dataDir: string): string {
  return path.join(dataDir, 'programs');
}

/** Ends the programs that killed processes left running, and removes their folders. Loads nothing if there are none. */
export async function endLeftPrograms(
  dataDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const records = recordsOf(dataDir);
  if (!existsSync(records)) return;
  const { endRecorded } = await import('./run-folder.ts');
  await endRecorded(records, env);
}
