import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTemporaryDirectory } from '../support/context.ts';
import { startScriptedService, success } from '../support/scripted-service.ts';
import { isPosix } from '../support/system.ts';
import type { TestTerminal } from '../support/terminals/terminal.ts';
import { onTerminal } from '../support/terminals/terminal-command.ts';

const MARKING = "sed 's/^/paged: /'";

interface Options {
  readonly count?: number;
  readonly pager?: string;
  readonly flags?: readonly string[];
  readonly setting?: string;
  readonly home?: string;
}

/** Lists models on a terminal of 24 lines. */
async function startListing({
  count = 100,
  pager,
  flags = [],
  setting,
  home = createTemporaryDirectory(),
}: Options): Promise<TestTerminal> {
  const models = Array.from({ length: count }, (_, index) => ({
    model: `model-${index} $(touch pwned)`,
    modality: 'text',
    availableRunOptions: [],
  }));
  const service = await startScriptedService([
    { answer: success({ hash: 'h', resources: { models } }) },
  ]);
  onTestFinished(() => service.close());

  if (setting !== undefined) {
    mkdirSync(path.join(home, 'config'));
    writeFileSync(
      path.join(home, 'config/config.json'),
      JSON.stringify({ settings: { pager: setting } }),
    );
  }

  return onTerminal(['models', ...flags], {
    home,
    env: {
      PROMPTRUN_BASE_URL: service.baseUrl,
      PROMPTRUN_API_KEY: 'key',
      ...(pager !== undefined && { PAGER: pager }),
    },
  });
}

async function getPagedText(options: Options): Promise<string> {
  const terminal = await startListing(options);
  expect(await terminal.exit()).toBe(0);
  return terminal.text();
}

describe('the pager', () => {
  it('is $PAGER, for what is longer than the screen', async () => {
    const home = createTemporaryDirectory();
    expect(await getPagedText({ pager: MARKING, home })).toContain(
      'paged: model-99 $(touch pwned)',
    );
    expect(existsSync(path.join(home, 'pwned'))).toBe(false);
    expect(await getPagedText({ pager: MARKING, count: 5 })).not.toContain('paged:');
  });

  it('is what the setting says before $PAGER, and nothing with --no-pager or cat', async () => {
    expect(await getPagedText({ pager: 'false', setting: MARKING })).toContain('paged: model-99');
    expect(await getPagedText({ pager: MARKING, setting: 'false' })).toMatch(/^model-99/mu);
    expect(await getPagedText({ pager: MARKING, flags: ['--no-pager'] })).toMatch(/^model-99/mu);
    expect(await getPagedText({ pager: '' })).toMatch(/^model-99/mu);
  });

  it('is never between a program and JSON', async () => {
    expect(await getPagedText({ pager: MARKING, flags: ['--json'] })).not.toContain('paged:');
  });

  it('may quit before it has read everything', async () => {
    expect(await getPagedText({ pager: 'head -n 2', count: 3000 })).toMatch(
      /^MODEL .*\nmodel-0 .*text$/u,
    );
  });

  it('that cannot be run leaves the text to the terminal', async () => {
    expect(await getPagedText({ pager: 'there-is-no-such-pager' })).toMatch(/^model-99/mu);
  });

  it.runIf(isPosix)('gets Ctrl-C instead of the command', async () => {
    const asking = `node -e "process.on('SIGINT', () => { console.log('still here'); process.exit() }); process.stdin.resume().on('end', () => setInterval(() => {}, 1000)); console.log('waiting')"`;
    const terminal = await startListing({ pager: asking });
    await terminal.waitFor('waiting');
    terminal.press('ctrl+c');
    await terminal.waitFor('still here');
    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).not.toContain('error');
  });

  it.each([['help', 'agents'], ['help', 'serve'], ['test', '--help'], []])(
    'shows guides and help: %s %s',
    async (...args) => {
      const home = createTemporaryDirectory();
      const terminal = onTerminal(args, { home, env: { PAGER: MARKING } });

      expect(await terminal.exit()).toBe(0);
      expect(terminal.text()).toContain('paged: ');
      expect(readdirSync(home)).toEqual([]);

      const whole = onTerminal([...args, '--no-pager'], { env: { PAGER: MARKING } });
      expect(await whole.exit()).toBe(0);
      expect(whole.text()).not.toContain('paged: ');
    },
  );

  it('shows help although the settings are damaged', async () => {
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'config'));
    writeFileSync(path.join(home, 'config/config.json'), '{');
    const terminal = onTerminal(['help', 'agents'], { home, env: { PAGER: MARKING } });
    expect(await terminal.exit()).toBe(0);
    expect(terminal.text()).toContain('paged: ');
  });
});
