import { describe, expect, it, vi } from 'vitest';
import { localService } from '../../../src/main.ts';
import { startInProcess } from '../../support/context.ts';
import { ECHO, Project } from './support.ts';

/** Two prompts of one folder with a case each, one of which reads a file, and a third elsewhere. */
function project(): Project {
  const testOf = (text: string): string =>
    `cases:\n  - { name: says ${text}, inputs: { text: "${text}" }, expect: [{ equals: own }] }\n`;
  return new Project({
    'a/one.prompt': ECHO,
    'a/one.test.yaml': testOf('@text.txt'),
    'a/text.txt': 'own',
    'a/two.prompt': ECHO,
    'a/two.test.yaml': testOf('own'),
    'b/three.prompt': ECHO,
    'b/three.test.yaml': testOf('own'),
  });
}

describe('test --watch', () => {
  it('runs all once, then the cases that each change concerns, and says which and why', async () => {
    const { home, write } = bound(project());
    const { stdout, stderr, raise, ended } = startInProcess(['test', '--watch'], {
      home,
      local: localService,
    });
    let [shown, told] = [0, 0];
    /** What came out of the next round. */
    const round = async (): Promise<string> => {
      await vi.waitFor(() => expect(stderr().slice(told)).toContain('waiting for changes'), {
        timeout: 20_000,
      });
      const [out, notes] = [stdout().slice(shown), stderr().slice(told)];
      [shown, told] = [stdout().length, stderr().length];
      return notes + out;
    };
    expect(await round()).toContain('3 passed, 0 failed');
    write('a/text.txt', 'other');
    expect(await round()).toMatch(
      /text\.txt changed: 1 case\n[^]*FAILED a\/one\.test\.yaml[^]*0 passed, 1 failed/u,
    );
    write('a/_part.prompt', 'part');
    write('a/text.txt', 'own');
    expect(await round()).toMatch(/_part\.prompt[^]*changed: 2 cases[^]*2 passed, 0 failed/u);
    write('b/three.test.yaml', 'cases: [');
    expect(await round()).toMatch(/three\.test\.yaml changed[^]*error: b\/three\.test\.yaml/u);
    write('b/three.test.yaml', 'cases: [{ inputs: { text: own } }]');
    expect(await round()).toMatch(/three\.test\.yaml changed: 1 case\n[^]*1 passed, 0 failed\n$/u);
    write('c/four.prompt', ECHO);
    write('c/four.test.yaml', 'cases: [{ inputs: { text: a } }]');
    expect(await round()).toMatch(/four\.test\.yaml[^]*1 passed, 0 failed\n$/u);
    expect(stderr()).toMatch(/note: 8 runs took \d+ tokens/u);
    raise('SIGTERM');
    expect(await ended).toBe(143);
  }, 60_000);
});

function bound(own: Project): { home: string; write: Project['write'] } {
  return { home: own.home, write: (name, content) => own.write(name, content) };
}
