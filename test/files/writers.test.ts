import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../src');

const WRITING_FUNCTION =
  /^(?:appendFile|copyFile|cp|createWriteStream|link|open|rename|symlink|truncate|writeFile)(?:Sync)?$/u;

/** Files outside of src/files that write by themselves, and why they may. */
const EXCEPTIONS = [
  'cli/checks/case-program.ts', // a temporary folder of its own
  'cli/commands/models/check.ts', // a temporary folder of its own
  'cli/commands/uninstall/startup-files.ts', // the user's own start-up files, edited in place, linked or not
  'cli/inputs/images/image-source.ts', // reads
  'cli/questions/edit-text.ts', // a temporary folder of its own
  'cli/settings/journal/journal.ts', // reads the journal, and puts it aside within the state directory
  'cli/targets/git/revision.ts', // a temporary folder of its own
  'cli/terminal/open-viewer.ts', // a temporary folder of its own
  'cli/testing/judging/judge.ts', // a temporary folder of its own
  'models/programs/run-folder.ts', // temporary folders of its own, and records in the data directory
  'models/programs/start-program.ts', // the run's own temporary folder
  'service/store/blobs/blob-files.ts', // reads
  'service/store/sqlite/connect-database.ts', // the database in the data directory
  'service/store/sqlite/locked-workers.ts', // locks in the data directory
  'service/store/sqlite/log-flush.ts', // flushes the log that SQLite writes
];

it('files are written in one way, which follows no links', () => {
  const writers = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map(file => file.split(path.sep).join('/'))
    .filter(file => file.endsWith('.ts') && !file.startsWith('files/'))
    .filter(file => {
      const source = readFileSync(path.join(root, file), 'utf8');
      const imports = [
        ...source.matchAll(/import (?!type)\{([^}]*)\} from 'node:fs(?:\/promises)?'/gu),
      ];
      const names = imports.flatMap(([, list = '']) => list.split(',').map(name => name.trim()));
      return (
        names.some(name => WRITING_FUNCTION.test(name)) ||
        /import \* as \w+ from 'node:fs/u.test(source)
      );
    });
  expect(writers.toSorted()).toEqual(EXCEPTIONS);
});
