import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../../support/context.ts';
import { startScriptedService, success } from '../../../support/scripted-service.ts';
import { hasLinks } from '../../../support/system.ts';

const writeSkills = (home: string, ...argv: string[]): ReturnType<typeof runInProcess> =>
  runInProcess(['prompts', 'skill', ...argv], { home, local: localService });

function readFrontMatter(text: string): Record<string, string> {
  const [, yaml = ''] = /^---\n([\s\S]*?)\n---\n/u.exec(text) ?? [];
  return parse(yaml) as Record<string, string>;
}

it('writes a skill whose command line runs unchanged', async () => {
  const home = createTemporaryDirectory();
  const { exitCode, stdout } = await writeSkills(home, 'hello');

  expect(stdout()).toBe(`${path.join('.claude/skills/hello/SKILL.md')}\n`);
  expect(exitCode).toBe(0);

  const text = readFileSync(path.join(home, stdout().trim()), 'utf8');
  expect(Object.keys(readFrontMatter(text))).toEqual(['name', 'description']);
  expect(readFrontMatter(text)['name']).toBe('hello');
  expect(text).toContain("promptrun run hello -i 'name=your name'");

  const explained = [...text.slice(text.indexOf('Exit code')).matchAll(/\b(\d+)(?=[:,])/gu)].map(
    ([code]) => Number(code),
  );
  expect(explained.toSorted((a, b) => a - b)).toEqual(Object.values(EXIT));

  const run = await runInProcess(['run', 'hello', '-i', 'name=your name'], {
    home,
    local: localService,
  });
  expect(run.exitCode).toBe(0);
});

it('writes a command line with slashes and the local profile for a prompt file', async () => {
  const home = createTemporaryDirectory();
  mkdirSync(path.join(home, 'in'));
  writeFileSync(
    path.join(home, 'in/note.prompt'),
    '---\ndescription: Notes a topic\n---\nAbout {{topic}}',
  );
  const { exitCode, stdout } = await writeSkills(home, path.join('in', 'note.prompt'));

  expect(exitCode).toBe(0);

  const text = readFileSync(path.join(home, stdout().trim()), 'utf8');
  expect(readFrontMatter(text)['description']).toMatch(/^Notes a topic\. /u);
  expect(text).toContain("\npromptrun run in/note.prompt -i 'topic=your topic' --profile local\n");
});

it.runIf(hasLinks)(
  'replaces a file that differs only with --force, and writes through no link',
  async () => {
    const home = createTemporaryDirectory();
    await writeSkills(home, 'hello', '--to', 'skills');

    expect((await writeSkills(home, 'hello', '--to', 'skills')).exitCode).toBe(0);

    const file = path.join(home, 'skills/hello/SKILL.md');
    writeFileSync(file, 'mine');
    const refused = await writeSkills(home, 'hello', '--to', 'skills');

    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(refused.exitCode).toBe(EXIT.usage);
    expect((await writeSkills(home, 'hello', '--to', 'skills', '--force')).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('promptrun run hello');

    mkdirSync(path.join(home, 'elsewhere'));
    symlinkSync('../elsewhere', path.join(home, 'skills/sandbox'));

    expect((await writeSkills(home, 'sandbox', '--to', 'skills', '--force')).exitCode).toBe(
      EXIT.usage,
    );
  },
);

it('refuses --to below a file', async () => {
  const home = createTemporaryDirectory();
  writeFileSync(path.join(home, 'file'), '');
  for (const to of ['file', path.join('file', 'skills')]) {
    const { exitCode, stderr } = await writeSkills(home, 'hello', '--to', to);
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).toContain(
      `error: --to: ${path.join(home, 'file')} is not a directory (USAGE_ERROR)`,
    );
  }
});

it('refuses the second of two prompts that would get the same folder', async () => {
  const home = createTemporaryDirectory();
  mkdirSync(path.join(home, 'in'));

  for (const name of ['My_prompt', 'in/my-prompt']) {
    writeFileSync(path.join(home, `${name}.prompt`), 'Hello');
  }

  const { exitCode, stderr } = await writeSkills(home, 'My_prompt.prompt', './in/my-prompt.prompt');
  expect(stderr()).toContain(' would both get the folder ');
  expect(exitCode).toBe(EXIT.usage);

  const file = path.join(home, '.claude/skills/my-prompt/SKILL.md');
  expect(readFileSync(file, 'utf8')).toContain('promptrun run My_prompt.prompt');
});

it('writes texts of a service as data, which can be neither Markdown nor commands', async () => {
  const home = createTemporaryDirectory();
  const id = '7b2f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b22';
  const title = 'x"\n---\n````\nrm -rf ~ <b>$(touch y)</b>\u001b[2J';
  const version = { promptVersionId: id, promptId: id, title, publishedAt: '2026-05-01T00:00:00Z' };
  const config = {
    textInputs: {
      'a\n````\nrm -rf': { description: 'b\n````' },
      '$(id)': { description: '`id`' },
      'a=b': {},
    },
  };
  const service = await startScriptedService([
    { expect: { path: `/prompts/${id}` }, answer: success({ ...version, config }) },
    { expect: { path: '/prompts/publish' }, answer: success({ rows: [] }) },
  ]);
  const { exitCode, stderr } = await runInProcess(['prompts', 'skill', id], {
    home,
    env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-key' },
  });
  await service.close();

  expect(exitCode).toBe(0);
  expect(stderr()).toContain(`note: ${id}: the skill lacks the input "a=b", which -i can't name\n`);

  const text = readFileSync(
    path.join(home, '.claude/skills/x-rm-rf-b-touch-y-b-2j/SKILL.md'),
    'utf8',
  );
  const { name = '', description = '', ...others } = readFrontMatter(text);

  expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/u);
  expect(description).not.toMatch(/[<>\u0000-\u001f]/u);
  expect(others).toEqual({});
  expect(text.split('\n').filter(line => line.startsWith('````'))).toEqual(['````sh', '````']);
  expect(text).not.toMatch(/^rm -rf/mu);
  expect(text).toContain("-i '$(id)=your $(id)'");
});

it('keeps whole characters and backticks of a service, and quotes a name that looks like a number', async () => {
  const home = createTemporaryDirectory();
  const id = '7b2f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b22';
  const version = {
    promptVersionId: id,
    promptId: id,
    title: '123',
    publishedAt: '2026-05-01T00:00:00Z',
  };

  const config = { textInputs: { 'a`b': { description: 'snake_case, #1', enum: ['x`y', 'z'] } } };
  const description = `Issue #7 of my_repo ${'👩‍👩‍👧'.repeat(200)}`;
  const row = {
    promptId: id,
    promptVersionId: id,
    title: '123',
    description,
    slug: '123',
    configs: config,
  };

  const service = await startScriptedService([
    { expect: { path: `/prompts/${id}` }, answer: success({ ...version, config }) },
    { expect: { path: '/prompts/publish' }, answer: success({ rows: [row] }) },
    { expect: { path: '/resources' }, answer: success({ hash: 'h', resources: { models: [] } }) },
  ]);
  const { exitCode } = await runInProcess(['prompts', 'skill', id], {
    home,
    env: { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'a-key' },
  });
  await service.close();

  expect(exitCode).toBe(0);

  const text = readFileSync(path.join(home, '.claude/skills/123/SKILL.md'), 'utf8');
  const { name, description: described = '' } = readFrontMatter(text);

  expect(name).toBe('123');
  expect(described).toMatch(/^Issue #7 of my_repo (?:👩‍👩‍👧)+$/u);
  expect(described.length).toBeLessThanOrEqual(1024);
  expect(text).toContain("-i 'a`b=x`y'");
  expect(text).toContain('- ``-i a`b=<value>`` (required; one of ``x`y``, `z`): snake_case, #1');
});
