import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTemporaryDirectory } from '../../../support/context.ts';
import { startScriptedServiceForTest, success } from '../../../support/scripted-service.ts';
import { isPosix } from '../../../support/system.ts';
import { OTHER_RUN, RUN, runAgainst, succeededRun, textOutput } from './run-against-service.ts';
import { RUN_IT, startServiceWithOutputs } from './service-with-outputs.ts';

describe.runIf(isPosix)('--open', () => {
  /** Returns a viewer that writes down its arguments. */
  function viewerIn(home: string): { env: Record<string, string>; opened: () => string[] } {
    const log = path.join(home, 'opened');
    for (const name of ['xdg-open', 'open']) {
      writeFileSync(path.join(home, name), `#!/bin/sh\nprintf '%s\\n' "$1" >> '${log}'\n`, {
        mode: 0o755,
      });
    }
    return {
      env: { PATH: `${home}:${process.env['PATH'] ?? ''}` },
      opened: () => readFileSync(log, 'utf8').trimEnd().split('\n'),
    };
  }

  it('opens saved files and web addresses with the viewer of the system', async () => {
    const home = createTemporaryDirectory();
    const { env, opened } = viewerIn(home);
    const service = await startServiceWithOutputs([
      { type: 'video', data: 'https://example.com/a.mp4' },
    ]);
    await runAgainst(service, [...RUN_IT, '--open'], { home, env });
    await runAgainst(
      await startServiceWithOutputs([textOutput('hi')]),
      [...RUN_IT, '--open', '--save', 'out'],
      {
        home,
        env,
      },
    );

    expect(opened()).toEqual(['https://example.com/a.mp4', path.join(home, 'out', `${RUN}-1.txt`)]);
  });

  it('opens the files of every run of runs save --json', async () => {
    const home = createTemporaryDirectory();
    const { env, opened } = viewerIn(home);
    const runs = [RUN, OTHER_RUN].map(runId => ({
      expect: { path: `/runs/${runId}` },
      answer: success(succeededRun({ runId })),
    }));
    const args = ['runs', 'save', RUN, OTHER_RUN, '--to', 'out', '--json', '--open'];
    const { exitCode } = await runAgainst(await startScriptedServiceForTest(...runs), args, {
      home,
      env,
    });

    expect(exitCode).toBe(0);
    expect(opened()).toEqual([RUN, OTHER_RUN].map(id => path.join(home, 'out', `${id}-1.txt`)));
  });

  it('opens a text that is not saved as a temporary file', async () => {
    const home = createTemporaryDirectory();
    const { env, opened } = viewerIn(home);
    const { stdout } = await runAgainst(
      await startServiceWithOutputs([textOutput('hi')]),
      [...RUN_IT, '--open'],
      {
        home,
        env,
      },
    );

    const [file = ''] = opened();
    onTestFinished(() => rmSync(path.dirname(file), { recursive: true }));

    expect([stdout(), readFileSync(file, 'utf8'), path.basename(file)]).toEqual([
      'hi\n',
      'hi',
      'output-1.txt',
    ]);
  });

  it.each([
    'javascript:alert(1)',
    './opened-by-nobody.desktop',
    '//server/share/x',
    pathToFileURL('/etc/hostname').href,
  ])('does not open %s, which a service names', async data => {
    const home = createTemporaryDirectory();
    const { env } = viewerIn(home);
    const service = await startServiceWithOutputs([
      { type: 'image', data, savedTo: '/etc/hostname' } as never,
    ]);
    const { stdout, stderr, exitCode } = await runAgainst(
      service,
      [...RUN_IT, '--open', '--json'],
      {
        home,
        env,
      },
    );

    expect(stderr()).toContain('is not opened');
    expect(exitCode).toBe(0);
    expect(existsSync(path.join(home, 'opened'))).toBe(false);
    expect(stdout()).not.toContain('savedTo');
  });

  it('prints a note if the system has no viewer', async () => {
    const service = await startServiceWithOutputs([
      { type: 'video', data: 'https://example.com/a.mp4' },
    ]);
    const { stderr, exitCode } = await runAgainst(service, [...RUN_IT, '--open'], {
      env: { PATH: '/nowhere' },
    });
    expect(stderr()).toMatch(/^note: https:\S+ could not be opened: .*ENOENT/);
    expect(exitCode).toBe(0);
  });
});
