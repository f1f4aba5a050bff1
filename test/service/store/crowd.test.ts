import { expect, test } from 'vitest';
import { runCommand } from '../../support/command.ts';
import { createTemporaryDataDir } from '../../support/local-service.ts';

const COMMANDS = 8;

test('many commands at once on a fresh data directory all succeed, and every run is kept', async () => {
  const env = { PROMPTRUN_DATA_DIR: createTemporaryDataDir() };
  const outcomes = await Promise.all(
    Array.from({ length: COMMANDS }, (_, index) =>
      runCommand(['run', 'hello', '-i', `name=n${index}`, '--quiet'], { env }),
    ),
  );

  expect(outcomes.map(({ code, stderr }) => [code, stderr])).toEqual(outcomes.map(() => [0, '']));

  const { stdout } = await runCommand(['runs', 'list', '--all', '--json', '--quiet'], { env });
  expect(JSON.parse(stdout)).toHaveLength(COMMANDS);
});
