import { existsSync } from 'node:fs';
import path from 'node:path';

/** Returns the folder that records running programs. */
export function getProgramRecordsFolder(dataDir: string): string {
  return path.join(dataDir, 'programs');
}

/**
 * Ends programs that killed processes left running, and removes their folders. Loads no code if
 * there are none.
 */
export async function endOrphanedPrograms(
  dataDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const recordsFolder = getProgramRecordsFolder(dataDir);
  if (!existsSync(recordsFolder)) return;
  const { endRecordedPrograms } = await import('./run-folder.ts');
  await endRecordedPrograms(recordsFolder, env);
}
