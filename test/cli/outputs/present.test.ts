import { describe, expect, it } from 'vitest';
import { present } from '../../../src/cli/outputs/present.ts';
import { testContext } from '../../support/context.ts';

const FORMS = { terminal: () => 'for people', plain: () => 'for\tprograms\n' };

async function presentToText(options: Parameters<typeof testContext>[0]): Promise<string> {
  const { ctx, stdout } = await testContext(options);
  await present(ctx, { n: 1 }, FORMS);
  return stdout();
}

describe('present', () => {
  it('prints the form for people on a terminal, else the one for programs', async () => {
    expect(await presentToText({ terminal: { stdout: true } })).toBe('for people\n');
    expect(await presentToText({})).toBe('for\tprograms\n');
  });

  it('prints JSON whenever it is requested', async () => {
    expect(await presentToText({ globals: { json: true }, terminal: { stdout: true } })).toBe(
      '{\n  "n": 1\n}\n',
    );
    expect(await presentToText({ globals: { json: true, query: 'n' } })).toBe('1\n');
  });
});
