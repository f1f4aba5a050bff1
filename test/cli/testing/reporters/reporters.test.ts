import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { createEchoProject, ECHO, Project } from '../../../support/project.ts';

const HOSTILE = `  - name: "hostile ]]> <b> %0A"
    inputs: { text: "::set-output name=a::b\\n<script>alert(1)</script>\\n]]>\\u001b[31m" }
    expect: [{ equals: "a,b:c%" }]
`;

const MIXED = `  - name: passes
    inputs: { text: a }
    expect: [{ equals: a }]
${HOSTILE}`;

describe('the report of tests', () => {
  it('is a tree on a terminal, with expected and actual texts', async () => {
    const { stdout } = await createEchoProject(MIXED).run(['test', '--no-color'], {
      terminal: { stdout: true },
    });
    expect(stdout()).toMatch(/^echo\.test\.yaml\n {2}✓ passes \(\d+\.\d s\)\n {2}✗ hostile/u);
    expect(stdout()).toContain('- expected  + actual');
    expect(stdout()).toContain('- a,b:c%');
    expect(stdout()).not.toContain('\u001b[31m');
  });

  it('is JUnit XML in a file, with failures distinct from errors', async () => {
    const project = createEchoProject(MIXED);
    const { exitCode } = await project.run(['test', '--reporter', 'junit', '--out', 'junit.xml']);
    const xml = readFileSync(path.join(project.home, 'junit.xml'), 'utf8');

    expect(exitCode).toBe(EXIT.runFailed);
    expect(xml).toContain('<testsuites tests="2" failures="1" errors="0"');
    expect(xml).toContain('<failure message="is not equal: expected ');
    expect(xml).not.toContain('\u001b');
    expect(xml).not.toContain('<script>alert(1)</script>\n]]>');
  });

  it('goes to standard output for -, beside another in a file', async () => {
    const project = createEchoProject(MIXED);
    const both = ['--reporter', 'markdown', '--out', '-', '--reporter', 'json', '--out', 'a.json'];
    const { stdout } = await project.run(['test', ...both]);
    expect(stdout()).toMatch(/^### Prompt tests\n/u);
    expect(readdirSync(project.home)).toContain('a.json');
    expect(readdirSync(project.home)).not.toContain('-');
  });

  it('says in every form what the runs took', async () => {
    const files = ['junit', 'json', 'html', 'markdown'].flatMap(name => [
      '--reporter',
      name,
      '--out',
      name,
    ]);

    const project = createEchoProject(MIXED);
    const { stdout } = await project.run(['test', '--json', ...files]);
    const read = (name: string): string => readFileSync(path.join(project.home, name), 'utf8');
    const took = '2 runs took 16 tokens, $0.00';

    expect(JSON.parse(stdout())).toMatchObject({ totals: { runs: 2, credits: 2, cost: 0 } });
    expect(JSON.parse(read('json'))).toMatchObject({
      totals: { models: [{ model: 'echo', credits: 2 }] },
    });
    expect(read('junit')).toContain('<property name="credits" value="2"/>');
    expect(read('junit')).toContain('<property name="echo cost" value="0"/>');
    expect(read('junit')).not.toContain('inputTokens');
    expect([read('html'), read('markdown')]).toEqual([
      expect.stringContaining(took),
      expect.stringContaining(took),
    ]);

    const capped = await project.run(['test', '--max-credits', '9', '--reporter', 'markdown']);
    expect(capped.stdout()).toContain('2 runs took 16 tokens, 2 credits, $0.00');
  });

  it('has an error in JUnit for what could not be run', async () => {
    const project = new Project({
      's.test.yaml':
        'target: describe\ncases:\n  - images: [https://127.0.0.1/a.png]\n    expect: [{ contains: x }]\n',
    });
    const { exitCode, stdout } = await project.run(['test', '--reporter', 'junit']);

    expect(stdout()).toContain('errors="1"');
    expect(stdout()).toContain('<error message=');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('annotates for GitHub by itself, and lets no answer act as a command', async () => {
    const project = createEchoProject(MIXED);
    const summary = path.join(project.home, 'summary.md');
    const { stdout } = await project.run(['test'], {
      env: { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary },
    });
    const [first = '', ...lines] = stdout().trimEnd().split('\n');
    const [, token = ''] = /^::stop-commands::([\w-]{36})$/u.exec(first) ?? [];
    const end = lines.indexOf(`::${token}::`);

    expect(lines.slice(0, end).join('\n')).toContain('::set-output');
    expect(lines.slice(end + 1)).toEqual([
      expect.stringMatching(
        /^::error file=echo\.test\.yaml,line=7,title=hostile \]\]> <b> %250A::is not equal: expected "a,b:c%25", got "/u,
      ),
    ]);

    const markdown = readFileSync(summary, 'utf8');
    expect(markdown).toContain('1 passed, 1 failed');
    expect(markdown).not.toContain('<script>');
  });

  it('annotates the only file if it is faulty', async () => {
    const project = createEchoProject('  - { inputs: { text: a }, expct: [] }\n');
    const { exitCode, stdout } = await project.run(['test'], { env: { GITHUB_ACTIONS: 'true' } });
    expect(exitCode).toBe(EXIT.usage);
    expect(stdout()).toMatch(
      /^::error file=echo\.test\.yaml,line=\d+,title=.*a case has no key "expct"/mu,
    );
  });

  it('annotates what could not be run with what to do about it', async () => {
    const project = createEchoProject('  - { inputs: { text: a }, expect: [{ equals: a }] }\n');
    await project.run(['test', '--record', 'rec']);
    project.write(
      'echo.test.yaml',
      'cases:\n  - { inputs: { text: b }, expect: [{ equals: b }] }\n',
    );
    const { stdout } = await project.run(['test', '--replay', 'rec'], {
      env: { GITHUB_ACTIONS: 'true' },
    });

    expect(stdout()).toMatch(
      /^::error file=.*is not recorded in .*%0AThe nearest is .* the input "text" \("a" there, "b" here\)\.%0ARecord it with --record\.$/mu,
    );
  });

  it('counts apart what a cap left, and what had passed before', async () => {
    const project = createEchoProject(
      ['a', 'b']
        .map(text => `  - { inputs: { text: ${text} }, expect: [{ equals: ${text} }] }\n`)
        .join(''),
    );

    const args = ['test', '--concurrency', '1', '--max-credits'];
    const capped = await project.run([...args, '1']);

    expect(capped.exitCode).toBe(EXIT.capReached);
    expect(capped.stdout()).toContain('1 passed, 0 failed, 1 not done\n');

    const resumed = await project.run([...args, '9', '--resume']);
    expect(resumed.stdout()).toContain('1 passed now, 1 before, 0 failed\n');
    expect(resumed.exitCode).toBe(0);
  });

  it('counts against the cap of a resumed test what that test spent, and not what an earlier one did', async () => {
    const cases = (...texts: string[]): string =>
      texts
        .map(text => `  - { inputs: { text: ${text} }, expect: [{ equals: ${text} }] }\n`)
        .join('');

    const project = createEchoProject(cases('a', 'b'));
    expect((await project.run(['test'])).exitCode).toBe(0);

    project.write('echo.test.yaml', `cases:\n${cases('c', 'd', 'e')}`);
    const args = ['test', '--concurrency', '1', '--max-credits'];

    expect((await project.run([...args, '1'])).exitCode).toBe(EXIT.capReached);
    expect((await project.run([...args, '2', '--resume'])).exitCode).toBe(EXIT.capReached);

    const resumed = await project.run([...args, '3', '--resume']);
    expect(resumed.stdout()).toContain('1 passed now, 2 before');
    expect(resumed.exitCode).toBe(0);
  });

  it('says that cases were answered from recordings, and no cost', async () => {
    const project = createEchoProject('  - { inputs: { text: a }, expect: [{ equals: a }] }\n');
    await project.run(['test', '--record', 'rec']);
    const { stdout } = await project.run(['test', '--replay', 'rec', '--reporter', 'markdown']);
    expect(stdout()).toContain('the cases were answered from recordings');
    expect(stdout()).not.toContain('took');
    const json = await project.run(['test', '--replay', 'rec', '--json', '--query', 'totals']);
    expect(JSON.parse(json.stdout())).toMatchObject({ runs: 1, tokens: 0, cost: 0, credits: 0 });
  });

  it('keeps the summary of a job within what GitHub takes', async () => {
    const failing = (name: string): string =>
      `  - { name: ${name}, inputs: { text: ${'long '.repeat(60_000)} }, expect: [{ equals: no }] }\n`;
    const project = createEchoProject(['first', 'second', 'third'].map(failing).join(''));
    const summary = path.join(project.home, 'summary.md');
    await project.run(['test'], { env: { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary } });
    const markdown = readFileSync(summary, 'utf8');

    expect(markdown.length).toBeLessThan(1_048_576);
    expect(markdown).toContain('<summary>first</summary>');
    expect(markdown).toContain('<td>third</td>');
    expect(markdown).toContain('more characters)');
  });

  it('is a comment of at most 65,536 characters that says what it lacks, and mentions nobody', async () => {
    const cases = Array.from(
      { length: 40 },
      (_, index) =>
        `  - { name: "@team/x ${index} ${'|'.repeat(2000)}", inputs: { text: "@@you <b>\\n\\n# a" }, expect: [{ equals: no }] }\n`,
    );
    const { stdout } = await createEchoProject(cases.join('')).run([
      'test',
      '--reporter',
      'markdown',
    ]);
    const markdown = stdout().trimEnd();

    expect(markdown.length).toBeLessThanOrEqual(65_536);
    expect(markdown).toMatch(
      /Left out, since this can be no longer: \d+ rows of the table and the details of \d+\.$/u,
    );
    expect(markdown).not.toMatch(/@\w|<b>|^# a/mu);
  });

  it('is a page of cases by models with what is wrong first, its differences and pictures', async () => {
    const project = new Project({
      'say.prompt': ECHO,
      'say.test.yaml':
        'models: [echo, card]\ncases:\n  - { name: passes, inputs: { text: a }, expect: [{ not: { contains: "<i>" } }] }\n' +
        '  - { name: fails, inputs: { text: "<script>alert(1)</script>\\nsame" }, expect: [{ equals: "no\\nsame" }] }\n',
    });
    const { exitCode } = await project.run(['test', '--reporter', 'html', '--out', 'tests.html']);
    const page = readFileSync(path.join(project.home, 'tests.html'), 'utf8');

    expect(exitCode).toBe(EXIT.runFailed);
    expect(page).not.toContain('<script>alert');
    expect(page.indexOf('<b>fails</b>')).toBeLessThan(page.indexOf('<b>passes</b>'));
    expect(page).toContain('<h3>Expected</h3><pre>not contains &quot;&lt;i&gt;&quot;</pre>');
    expect(page).toContain('<h3>Expected</h3><pre>equals &quot;no\\nsame&quot;</pre>');
    expect(page).toMatch(
      /<del>no\n<\/del><ins>&lt;script&gt;alert\(1\)&lt;\/script&gt;\n<\/ins>same/u,
    );
    expect(page).toMatch(
      /<h3>echo<\/h3>[\s\S]*<h3>card<\/h3>[\s\S]*<img alt="" src="data:image\/png;base64,/u,
    );
  });

  it.each(['json', 'junit', 'markdown', 'html'])(
    "can't control a terminal as %s",
    async reporter => {
      const project = createEchoProject(
        '  - inputs: { text: "\\u009b31m\\u202e\\u001b[2J" }\n    expect: [{ equals: x }]\n',
      );
      const { stdout } = await project.run(['test', '--no-color', '--reporter', reporter], {
        terminal: { stdout: true },
      });
      expect(stdout()).toContain('31m');

      // oxlint-disable-next-line no-control-regex -- these are what must not come
      expect(stdout()).not.toMatch(/[\u001b\u009b\u202e]/u);
    },
  );

  it('is JSON with --json and with --reporter json alike', async () => {
    const project = createEchoProject(MIXED);
    const [jsonReport, reporterReport] = [
      await project.run(['test', '--json']),
      await project.run(['test', '--reporter', 'json']),
    ].map(
      ({ stdout }) =>
        JSON.parse(stdout()) as { passed: number; failed: number; cases: { name: string }[] },
    );
    expect(jsonReport).toMatchObject({ passed: 1, failed: 1 });
    expect(reporterReport).toMatchObject({ passed: 1, failed: 1 });
    expect(jsonReport?.cases.map(({ name }) => name)).toEqual(
      reporterReport?.cases.map(({ name }) => name),
    );
  });

  it.runIf(existsSync('/dev/full'))(
    'is printed if its file cannot be written, and the other reports are still written',
    async () => {
      const project = createEchoProject(MIXED);
      const outputs = ['--reporter', 'junit', '--out', '/dev/full'];
      outputs.push('--reporter', 'json', '--out', 'a.json');
      const { exitCode, stdout, stderr } = await project.run(['test', ...outputs], {
        env: { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: path.join(project.home, 'summary.md') },
      });

      expect(exitCode).toBe(EXIT.fault);
      expect(stderr()).toContain("--out: /dev/full can't be written: ");
      expect(stdout()).toMatch(/^<\?xml [^]*<\/testsuites>\n$/u);
      expect(readFileSync(path.join(project.home, 'a.json'), 'utf8')).toContain('"passes"');
      expect(readFileSync(path.join(project.home, 'summary.md'), 'utf8')).toContain('passes');
    },
  );

  it('requires a reporter for --out', async () => {
    const { exitCode, stderr } = await createEchoProject(MIXED).run(['test', '--out', 'x.xml']);
    expect(stderr()).toContain('--out needs --reporter');
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each([
    ['none/x.xml', 'no such directory'],
    ['.', '--out: . is a directory'],
  ])('refuses --out %s before anything is run', async (out, message) => {
    const args = ['test', '--reporter', 'junit', '--out', out];
    const { exitCode, stdout, stderr } = await createEchoProject(MIXED).run(args);
    expect(stdout()).toBe('');
    expect(stderr()).toContain(message);
    expect(exitCode).toBe(EXIT.usage);
  });
});
