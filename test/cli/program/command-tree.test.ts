import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { COMMAND_TABLE } from '../../../src/cli/program/command-table.ts';
import { runInProcess } from '../../support/context.ts';

/** The commands that users may rely on. */
const CONTRACT_PATHS =
  `run, runs list, runs get, runs wait, runs journal, runs save, prompts get, prompts search,
  prompts publish, versions list, versions get, resources list, resources refresh, resources status, batch, account,
  api, login, logout, profile list, profile use, profile add, profile remove, config get, config set, config unset,
  config list, config path, alias set, alias remove, alias list, serve, keys create, keys list, keys revoke,
  completion, doctor, models`.split(/,\s+/);

const PATHS = COMMAND_TABLE.commands
  .filter(({ hidden }) => hidden !== true)
  .map(({ path }) => path);

describe('the tree of commands', () => {
  it('has every command of the contract', () => {
    expect(PATHS).toEqual(expect.arrayContaining(CONTRACT_PATHS));
  });

  it.each(PATHS)('explains %s with an example', async path => {
    const { exitCode, stdout, stderr } = await runInProcess([...path.split(' '), '--help']);
    expect(stdout()).toMatch(new RegExp(`^Usage: promptrun ${path}\\b`));
    expect(stdout()).toMatch(/\nExamples?:\n {2}.*promptrun /);
    expect(stdout()).not.toContain('(default: [])');
    expect(stdout()).toMatch(/^Flags of every command .*: promptrun help flags$/m);
    expect(stdout()).not.toContain('--base-url <url>');
    expect(stderr()).toBe('');
    expect(exitCode).toBe(0);
  });

  it('prints help without hidden commands if no command is named', async () => {
    const { exitCode, stdout, stderr } = await runInProcess([]);
    expect(stdout()).toMatch(/^Usage: promptrun <command>/);
    expect(stdout()).not.toContain('__complete');
    expect(stderr()).toBe('');
    expect(exitCode).toBe(0);
  });

  it.each(['--replay', '--record', '--inputs', '--image', '--schema'])(
    'refuses %s without a name, as an unset variable in a script leaves it',
    async flag => {
      const { exitCode, stderr } = await runInProcess(['run', 'hello', '-i', 'name=Ada', flag, '']);
      expect(exitCode).toBe(EXIT.usage);
      expect(stderr()).toMatch(
        new RegExp(`^error: option '.*${flag} <.*Name a (file|directory)`, 'u'),
      );
    },
  );

  it('prints help that fits into 80 columns', async () => {
    const { stdout } = await runInProcess([]);
    const lines = stdout().split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter(line => line.length > 80)).toEqual([]);
  });

  it('prints the help of a group that is called without a subcommand', async () => {
    const { exitCode, stdout } = await runInProcess(['profile']);
    expect(stdout()).toMatch(/^Usage: promptrun profile <command>[^]*\n {2}add /);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['prompt', 'prompts'],
    ['version', 'versions'],
    ['resource', 'resources'],
    ['model', 'models'],
    ['profiles', 'profile'],
    ['aliases', 'alias'],
    ['key', 'keys'],
  ])('takes %s as another name of %s', async (alias, name) => {
    const helpOfAlias = await runInProcess([alias, '--help']);
    const helpOfName = await runInProcess([name, '--help']);
    expect(helpOfName.stdout()).toMatch(new RegExp(`^Usage: promptrun ${name} `, 'u'));
    expect(helpOfAlias.stdout()).toBe(helpOfName.stdout());
  });

  it('names --version in the help of `versions`, which `version` leads to', async () => {
    expect((await runInProcess(['version'])).stdout()).toContain('promptrun --version');
  });

  it('prints the version and nothing else', async () => {
    expect((await runInProcess(['--version'])).stdout()).toBe('0.0.0-test\n');
    expect((await runInProcess(['runs', '-V'])).stdout()).toBe('0.0.0-test\n');
  });
});

describe('help', () => {
  it('explains a command several levels deep as its --help does', async () => {
    const { stdout, exitCode } = await runInProcess(['help', 'config', 'set']);
    expect(stdout()).toBe((await runInProcess(['config', 'set', '--help'])).stdout());
    expect(exitCode).toBe(0);
  });

  it('explains itself', async () => {
    const { stdout, exitCode } = await runInProcess(['help', 'help']);
    expect(stdout()).toBe((await runInProcess(['help', '--help'])).stdout());
    expect(exitCode).toBe(0);
  });

  it('without a topic is the help of promptrun itself', async () => {
    expect((await runInProcess(['help'])).stdout()).toBe((await runInProcess([])).stdout());
  });

  it('lists the flags of every command', async () => {
    const { stdout, exitCode } = await runInProcess(['help', 'flags']);
    for (const flag of [
      '--profile <name>',
      '--base-url <url>',
      '--query <jmespath>',
      '-q, --quiet',
      '-V, --version',
      '-h, --help',
    ]) {
      expect(stdout()).toContain(`  ${flag} `);
    }
    expect(exitCode).toBe(0);
  });

  it('lists the commands right after the summary', async () => {
    const { stdout } = await runInProcess([]);
    expect(stdout()).toMatch(
      /^Usage: .*\n\nRun, test, compare and batch prompts[^]*?\n\nRun prompts:\n {2}run /,
    );
    expect(stdout()).not.toMatch(/Options:/);
  });

  it('explains the environment and the exit codes', async () => {
    const environment = await runInProcess(['help', 'environment']);
    for (const variable of [
      'PROMPTRUN_API_KEY',
      'PROMPTRUN_STATE_DIR',
      'NO_COLOR',
      'NODE_EXTRA_CA_CERTS',
      'CI',
    ]) {
      expect(environment.stdout()).toContain(variable);
    }

    const exitCodes = await runInProcess(['help', 'exit-codes']);
    expect(exitCodes.stdout()).toMatch(/^ {2}143 {2}ended by SIGTERM$/m);
  });

  it.each(['help nope', 'nope --help', 'config nope --help', 'help config nope'])(
    'refuses an unknown command: %s',
    async line => {
      const { exitCode, stdout, stderr } = await runInProcess(line.split(' '));
      expect(stderr()).toMatch(/^error: unknown command 'nope' \(USAGE_ERROR\)\n/);
      expect(stdout()).toBe('');
      expect(exitCode).toBe(EXIT.usage);
    },
  );
});

describe('the parser', () => {
  it('suggests `run` for an unknown command, which may be a prompt', async () => {
    const { stderr, exitCode } = await runInProcess(['my haiku']);
    expect(stderr()).toContain("\nIf 'my haiku' is a prompt: promptrun run 'my haiku'\n");
    expect(exitCode).toBe(EXIT.usage);
  });

  it('suggests the nearest help topic', async () => {
    const { exitCode, stderr } = await runInProcess(['help', 'environmnet']);
    expect(stderr()).toMatch(/^error: unknown command 'environmnet'; did you mean environment\?/);
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each([
    {
      argv: ['rnus', 'list'],
      line: "error: unknown command 'rnus'; did you mean runs? (USAGE_ERROR)",
      command: 'promptrun',
    },
    { argv: ['hello'], line: "error: unknown command 'hello' (USAGE_ERROR)", command: 'promptrun' },
    {
      argv: ['runs', 'lst'],
      line: "error: unknown command 'lst'; did you mean list? (USAGE_ERROR)",
      command: 'promptrun runs',
    },
    { argv: ['rn'], line: "error: unknown command 'rn' (USAGE_ERROR)", command: 'promptrun' },
    {
      argv: ['prfoile', 'list'],
      line: "error: unknown command 'prfoile'; did you mean profile? (USAGE_ERROR)",
      command: 'promptrun',
    },
    {
      argv: ['config', 'lst'],
      line: "error: unknown command 'lst'; did you mean list? (USAGE_ERROR)",
      command: 'promptrun config',
    },
    {
      argv: ['config', 'list', '--jsn'],
      line: "error: unknown option '--jsn'; did you mean --json? (USAGE_ERROR)",
      command: 'promptrun config list',
    },
    {
      argv: ['runs', 'journal', '--limit', '3'],
      line: "error: unknown option '--limit' (USAGE_ERROR)",
      command: 'promptrun runs journal',
    },
    {
      argv: ['models', '--modality', 'text', 'providers'],
      line: "error: unknown option '--modality' (USAGE_ERROR)",
      command: 'promptrun models providers',
    },
    {
      argv: ['--bogus', 'config', 'list'],
      line: "error: unknown option '--bogus' (USAGE_ERROR)",
      command: 'promptrun',
    },
    {
      argv: ['config', 'list', '--jsn=sk-1'],
      line: "error: unknown option '--jsn'; did you mean --json? (USAGE_ERROR)",
      command: 'promptrun config list',
    },
    {
      argv: ['config', 'list', '--api-key=sk-1'],
      line: "error: unknown option '--api-key' (USAGE_ERROR)",
      command: 'promptrun config list',
    },
    {
      argv: ['config', 'list', '--json=1'],
      line: 'error: --json takes no value (USAGE_ERROR)',
      command: 'promptrun config list',
    },
    {
      argv: ['config', 'get'],
      line: "error: missing required argument 'key' (USAGE_ERROR)",
      command: 'promptrun config get',
    },
    {
      argv: ['config', 'list', '--profile'],
      line: "error: option '--profile <name>' argument missing (USAGE_ERROR)",
      command: 'promptrun',
    },
    {
      argv: ['config', 'path', 'extra'],
      line: 'error: too many arguments: extra (USAGE_ERROR)',
      command: 'promptrun config path',
    },
  ])(
    'reports $argv in one line, with the usage and exit code 2',
    async ({ argv, line, command }) => {
      const { exitCode, stdout, stderr } = await runInProcess(argv);
      const [first, usage, see] = stderr().split('\n');
      expect(first).toBe(line);
      expect(usage).toMatch(new RegExp(`^Usage: ${command} [<[]`));
      expect(see).toBe(`See: ${command} --help`);
      expect(stdout()).toBe('');
      expect(exitCode).toBe(EXIT.usage);
    },
  );

  it.each([
    [['run', 'hello', 'Ada'], 'Give the input with its name: promptrun run hello -i <input>=Ada'],
    [
      ['run', 'hello', 'name=Ada', 'b=c d'],
      "Give inputs with -i: promptrun run hello -i name=Ada -i 'b=c d'",
    ],
    [
      ['batch', 'hello', 'my names.csv'],
      "Give the rows with --from: promptrun batch hello --from 'my names.csv'",
    ],
    [['keys', 'create', 'ada'], 'Give the user with --user: promptrun keys create --user ada'],
    [['run', '--', '-hello', '-i', 'name=Ada'], 'Usage: promptrun run [options] [target]'],
    [
      ['run', 'hello', '--topic', 'sk-1'],
      'If topic is an input of the prompt, give it with -i: -i topic=<value>',
    ],
    [
      ['batch', 'hello', '--topic=sk-1'],
      'If topic is an input of the prompt, give it with -i: -i topic=<value>',
    ],
    [['run', 'hello', '--api-key', 'sk-1'], 'Usage: promptrun run [options] [target]'],
    [['run', 'hello', '--modle', 'echo'], 'Usage: promptrun run [options] [target]'],
  ])('gives %j a hint on the form of inputs', async (argv, hint) => {
    const { exitCode, stderr } = await runInProcess(argv);
    expect(stderr().split('\n')[1]).toBe(hint);
    expect(stderr()).not.toContain('sk-1');
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each([
    [
      ['runs', 'shw'],
      "unknown command 'shw'; did you mean show? Usage: promptrun runs [options] [command]. See: promptrun runs --help",
    ],
    [['batch', 'hello'], '--from is missing: the file with the rows. See: promptrun batch --help'],
  ])('includes the hints in the message in JSON: %j', async (argv, message) => {
    const { stderr } = await runInProcess([...argv, '--json']);
    expect(JSON.parse(stderr())).toMatchObject({
      message: expect.stringContaining(message),
      exitCode: EXIT.usage,
    });
  });

  it.each([[['--json', 'rnus']], [['rnus', '--json']], [['config', '--query', 'x', 'nope']]])(
    'reports %j in one line of JSON',
    async argv => {
      const { stderr, exitCode } = await runInProcess(argv);
      expect(JSON.parse(stderr())).toEqual({
        status: 'USAGE_ERROR',
        message: expect.stringContaining('unknown command') as string,
        data: null,
        exitCode: EXIT.usage,
      });

      expect(stderr().trimEnd()).not.toContain('\n');
      expect(exitCode).toBe(EXIT.usage);
    },
  );

  it('reads no flags after --', async () => {
    const { stderr } = await runInProcess(['nope', '--', '--json']);
    expect(stderr()).toMatch(/^error: unknown command 'nope'/);
  });
});

describe('global flags', () => {
  it('work before and after the command', async () => {
    const before = await runInProcess(['--json', 'config', 'list']);
    const between = await runInProcess(['config', '--json', 'list']);
    const after = await runInProcess(['config', 'list', '--json']);
    expect(JSON.parse(before.stdout())).toEqual(
      expect.arrayContaining([{ key: 'rate', value: 5, isSet: false }]),
    );
    expect([between.stdout(), after.stdout()]).toEqual([before.stdout(), before.stdout()]);
  });

  it('refuse a query that cannot be evaluated before anything is done', async () => {
    const refused = await runInProcess(['config', 'set', 'rate', '1', '--query', '[?']);
    expect(JSON.parse(refused.stderr())).toMatchObject({
      status: 'USAGE_ERROR',
      exitCode: EXIT.usage,
    });
    expect(refused.stdout()).toBe('');
    expect(refused.exitCode).toBe(EXIT.usage);

    const { stdout } = await runInProcess(['config', 'get', 'rate'], { home: refused.home });
    expect(stdout()).toBe('5\n');
  });

  it('refuse an invalid duration', async () => {
    const { stderr, exitCode } = await runInProcess(['config', 'list', '--timeout', 'soon']);
    expect(stderr()).toMatch(/^error: --timeout: 'soon' is not a duration \(USAGE_ERROR\)\n/);
    expect(exitCode).toBe(EXIT.usage);
  });
});
