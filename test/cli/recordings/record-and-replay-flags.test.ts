import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createEchoProject } from '../../support/project.ts';
import { CASES } from './recorded-cases.ts';

describe('--record and --replay', () => {
  it.each([
    [['--record', 'a', '--replay', 'b'], {}],
    [[], { PROMPTRUN_RECORD: 'a', PROMPTRUN_REPLAY: 'b' }],
    [['--record', 'a'], { PROMPTRUN_REPLAY: 'b' }],
  ])('are refused together, and nothing is run: %j %j', async (flags, env) => {
    const project = createEchoProject(CASES);
    const { exitCode, stderr } = await project.run(['test', ...flags], { env });
    expect(stderr()).toContain("can't be used together");
    expect(exitCode).toBe(EXIT.usage);
    expect(existsSync(path.join(project.home, 'a'))).toBe(false);
  });

  it('outweigh the environment, in which an empty variable counts as missing', async () => {
    const project = createEchoProject(CASES);
    const recorded = await project.run(['test', '--record', 'a'], {
      env: { PROMPTRUN_REPLAY: '' },
    });
    const replayed = await project.run(['test', '--replay', 'a'], {
      env: { PROMPTRUN_RECORD: 'b' },
    });

    expect(replayed.exitCode).toBe(recorded.exitCode);
    expect(existsSync(path.join(project.home, 'a', 'runs'))).toBe(true);
    expect(existsSync(path.join(project.home, 'b'))).toBe(false);
  });
});
