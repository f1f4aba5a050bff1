import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCAL_SCOPE } from '../../src/cli/settings/caches/resource-cache.ts';
import {
  type CompletingShell,
  hasShell,
  type Shell,
  startCompletingShell,
} from '../support/terminals/shell.ts';

const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const PROMPT = '3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11';

/** Values as a hostile service may list them; each first letter is another one. */
const HOSTILE = [
  'Arm $(touch pwned)',
  'Bad `touch pwned`',
  'Cut; touch pwned',
  "Don't stop",
  'Even "quoted" \\ words',
  'From $HOME & on | > pwned',
  'Go: a=b:c @d #e !f ~g *?[h] {i,j}',
  'Hübsch',
];

function fill(home: string): void {
  const config = path.join(home, 'config');
  mkdirSync(config);
  writeFileSync(
    path.join(config, 'config.json'),
    JSON.stringify({
      activeProfile: 'local',
      aliases: { postcard: VERSION },
      profiles: { work: { baseUrl: 'https://work.example/v1' } },
    }),
  );

  const place = { type: 'string', required: true, enum: [...HOSTILE, 'New\nline', 'Zürich'] };
  writeFileSync(
    path.join(config, 'prompts.json'),
    JSON.stringify({
      versions: [
        {
          service: 'local',
          version: {
            promptVersionId: VERSION,
            promptId: PROMPT,
            title: 'Post `touch pwned`',
            publishedAt: '2026-01-01T00:00:00Z',
            config: { textInputs: { place, 'my mood': { type: 'string', enum: ['sunny'] } } },
          },
        },
      ],
    }),
  );

  const models = [
    {
      model: 'm-$(touch pwned)',
      modality: 'text',
      availableRunOptions: [{ key: 'size', options: ['16:9', '1x1'] }],
    },
  ];

  writeFileSync(
    path.join(config, 'resources.json'),
    JSON.stringify({
      services: [
        {
          scope: LOCAL_SCOPE,
          service: 'local',
          hash: 'h',
          models,
          fetchedAt: '2026-01-01T00:00:00Z',
        },
      ],
    }),
  );
  writeFileSync(path.join(home, 'a $(touch pwned).prompt'), '');
}

for (const shell of ['bash', 'zsh', 'fish'] satisfies Shell[]) {
  describe.runIf(hasShell(shell))(`completion in ${shell}`, () => {
    let home: string;
    let line: CompletingShell | undefined;
    beforeAll(async () => {
      home = mkdtempSync(path.join(tmpdir(), 'promptrun-shell-'));
      fill(home);
      line = await startCompletingShell(shell, home);
    });

    afterAll(async () => {
      await line?.close();
      rmSync(home, { recursive: true, force: true });
    });

    it('asks the built command', async () => {
      await line?.byBuiltCommand(async () => {
        expect(await line?.argumentsAfterTab('promptrun acc')).toEqual(['account']);
        expect(await line?.argumentsAfterTab('promptrun run postcard -i place=H')).toEqual([
          'run',
          'postcard',
          '-i',
          'place=Hübsch',
        ]);
      });
    });

    it('completes commands, flags and their values', async () => {
      expect(await line?.argumentsAfterTab('promptrun runs li')).toEqual(['runs', 'list']);
      expect(await line?.argumentsAfterTab('promptrun runs list --stat')).toEqual([
        'runs',
        'list',
        '--status',
      ]);

      expect(await line?.argumentsAfterTab('promptrun runs list --status q')).toEqual([
        'runs',
        'list',
        '--status',
        'queued',
      ]);

      expect(await line?.argumentsAfterTab('promptrun runs list --status=q')).toEqual([
        'runs',
        'list',
        '--status=queued',
      ]);
      expect(await line?.argumentsAfterTab('promptrun --profile w')).toEqual(['--profile', 'work']);
    });

    it('completes prompts and models from the caches', async () => {
      expect(await line?.argumentsAfterTab('promptrun run postc')).toEqual(['run', 'postcard']);
      expect(await line?.argumentsAfterTab('promptrun run 0b')).toEqual(['run', VERSION]);
      expect(await line?.argumentsAfterTab('promptrun run postcard -i my', 'sunny')).toEqual([
        'run',
        'postcard',
        '-i',
        'my mood=sunny',
      ]);

      expect(await line?.argumentsAfterTab('promptrun run postcard -o size=16')).toEqual([
        'run',
        'postcard',
        '-o',
        'size=16:9',
      ]);
      expect(await line?.argumentsAfterTab('promptrun run postcard --option=size=16:')).toEqual([
        'run',
        'postcard',
        '--option=size=16:9',
      ]);
    });

    it.each(HOSTILE)('hands over %s unchanged, and runs nothing of it', async value => {
      const start = value.slice(0, 1);
      expect(await line?.argumentsAfterTab(`promptrun run postcard -i place=${start}`)).toEqual([
        'run',
        'postcard',
        '-i',
        `place=${value}`,
      ]);
      expect(existsSync(path.join(home, 'pwned'))).toBe(false);
    });

    it('completes within quotes', async () => {
      expect(await line?.argumentsAfterTab(`promptrun run postcard -i "place=A`)).toEqual([
        'run',
        'postcard',
        '-i',
        `place=${HOSTILE[0]}`,
      ]);
      expect(await line?.argumentsAfterTab(`promptrun run postcard -i 'place=D`)).toEqual([
        'run',
        'postcard',
        '-i',
        `place=Don't stop`,
      ]);
      expect(await line?.argumentsAfterTab(`promptrun run postcard -i place="E`)).toEqual([
        'run',
        'postcard',
        '-i',
        `place=${HOSTILE[4]}`,
      ]);
    });

    it('lists what there is', async () => {
      const screen = await line?.screenAfterTabs('promptrun runs list --status ', 'succeeded');
      expect(screen).toMatch(/failed|queued|running/u);
    });

    it('never runs what was typed', async () => {
      await line?.argumentsAfterTab(`promptrun run '$(touch pwned)' -i pl`);
      expect(await line?.argumentsAfterTab(`promptrun resources list --model m`)).toEqual([
        'resources',
        'list',
        '--model',
        'm-$(touch pwned)',
      ]);

      expect(await line?.argumentsAfterTab('promptrun run a')).toEqual([
        'run',
        'a $(touch pwned).prompt',
      ]);
      expect(existsSync(path.join(home, 'pwned'))).toBe(false);
    });
  });
}

it.runIf(hasShell('fish'))('fish keeps the order of candidates: runs newest first', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'promptrun-shell-'));
  try {
    const stub = "#!/bin/sh\nprintf '9f2c\\tnewest\\n0a1b\\tolder\\n'\n";
    writeFileSync(path.join(folder, 'promptrun'), stub, { mode: 0o755 });
    const script = path.resolve('completions/promptrun.fish');
    const line = `source ${script}; complete -C "promptrun runs get "`;
    const shell: Shell = 'fish';
    const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder };

    expect(execFileSync(shell, ['-c', line], { env, encoding: 'utf8' })).toBe(
      '9f2c\tnewest\n0a1b\tolder\n',
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

// Only root may run as an account that the system doesn't know.
it.runIf(process.getuid?.() === 0)('needs no home directory, and neither does uninstall', () => {
  const run = (...argv: string[]): string =>
    execFileSync(process.execPath, [path.resolve('bin/promptrun.js'), ...argv], {
      env: { PATH: process.env['PATH'] },
      uid: 54_321,
      gid: 54_321,
      encoding: 'utf8',
      stdio: 'pipe',
    });

  expect(run('completion', 'bash')).toContain('complete -o nospace');
  expect(run('__complete', 'fish', '--', 'acc')).toContain('account');
  expect(run('uninstall', '--dry-run')).toBe('');
  expect(() => run('config', 'list')).toThrow('this user has no home directory');
});

it.runIf(hasShell('bash'))('bash keeps the order of candidates, too, if it can', () => {
  const shell: Shell = 'bash';
  const script = path.resolve('completions/promptrun.bash');
  const output = execFileSync(
    shell,
    ['-c', `source "${script}"; complete -p promptrun; ((BASH_VERSINFO[0] >= 5)) && echo new`],
    {
      encoding: 'utf8',
    },
  );
  expect(output.includes('-o nosort')).toBe(output.includes('new'));
});
