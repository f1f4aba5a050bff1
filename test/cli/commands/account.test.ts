import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { runWithScript } from '../../support/run-with-script.ts';
import { type Exchange, failure, success } from '../../support/scripted-service.ts';

const OWNER = { username: 'ada', displayName: 'Ada Lovelace', userFlags: 3, since: 1843 };

function createScript(owner: unknown = OWNER, credits: unknown = { credits: 12.5 }): Exchange[] {
  return [
    { expect: { method: 'GET', path: '/me' }, answer: success(owner) },
    { expect: { method: 'GET', path: '/me/credits' }, answer: success(credits) },
  ];
}

describe('account', () => {
  it('shows the owner of the key and the credits left, in two requests', async () => {
    const terminal = { terminal: { stdout: true }, env: { NO_COLOR: '1' }, isOrdered: false };
    const { stdout } = await runWithScript(createScript(), ['account'], terminal);

    expect(stdout).toBe('User     Ada Lovelace\nName     ada\nCredits  12.5\n');

    const nameless = await runWithScript(
      createScript({ ...OWNER, displayName: null }),
      ['account'],
      terminal,
    );
    expect(nameless.stdout).toBe('User     ada\nCredits  12.5\n');

    const nobody = await runWithScript(
      createScript({ username: null, displayName: null, userFlags: 0 }),
      ['account'],
      terminal,
    );
    expect(nobody.stdout).toBe('User     without a name\nCredits  12.5\n');
  });

  it('prints lines when piped, and JSON with every field', async () => {
    const { stdout } = await runWithScript(createScript(), ['account'], { isOrdered: false });
    expect(stdout).toBe(
      'username\tada\ndisplayName\tAda Lovelace\nuserFlags\t3\nsince\t1843\ncredits\t12.5\n',
    );
    const json = await runWithScript(createScript(), ['account', '--json'], { isOrdered: false });
    expect(JSON.parse(json.stdout)).toEqual({ ...OWNER, credits: 12.5 });
  });

  it('escapes control characters in a name', async () => {
    const terminal = { terminal: { stdout: true }, env: { NO_COLOR: '1' }, isOrdered: false };
    const owner = { username: 'a\u001b[2J\nb', displayName: null, userFlags: 0 };
    expect((await runWithScript(createScript(owner), ['account'], terminal)).stdout).toContain(
      'User     a^[[2J b\n',
    );
  });

  it('reports a lapsed plan', async () => {
    const lapsed = failure(402, 'PAYMENT_REQUIRED_ERROR', 'the plan has lapsed');
    const { stderr, exitCode } = await runWithScript(
      [{ answer: lapsed, times: 'any' }],
      ['account'],
      {
        isOrdered: false,
      },
    );
    expect(stderr).toContain('error: the plan has lapsed (PAYMENT_REQUIRED_ERROR)');
    expect(exitCode).toBe(EXIT.unauthorised);
  });
});
