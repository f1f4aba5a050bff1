import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import { type CommandResult, runInProcess } from '../../../support/context.ts';
import { TestService } from '../../../support/local-service.ts';
import { ECHO, Project } from '../../../support/project.ts';

// In each test, a prompt file runs on this machine and a slug on the configured service.

let service: TestService;
let env: Record<string, string>;

beforeAll(async () => {
  service = await TestService.start();
  await service.publish('theirs', ECHO);
  env = { PROMPTRUN_BASE_URL: service.service.url, PROMPTRUN_API_KEY: service.key };
});

afterAll(() => service.close());

const createProject = (): Project =>
  new Project({
    'own.prompt': ECHO,
    'own.test.yaml': 'cases:\n  - inputs: {text: here}\n    expect: [{equals: here}]\n',
    'theirs.test.yaml':
      'target: theirs\ncases:\n  - inputs: {text: there}\n    expect: [{rubric: polite}]\n',
    'rows.csv': 'text\nhello\n',
  });

async function listRunIds(project: Project, options: object): Promise<string[]> {
  const { stdout } = await project.run(['runs', 'list', '--all', '--query', '[].runId'], options);
  return JSON.parse(stdout()) as string[];
}

it('compare runs each target on its own service', async () => {
  const project = createProject();
  const argv = ['compare', 'own.prompt', 'theirs', '--from', 'rows.csv'];
  const run = (...flags: string[]): Promise<CommandResult> =>
    project.run([...argv, ...flags], { env });
  const { exitCode, stdout } = await run('--json');
  const [row] = JSON.parse(stdout()) as [{ verdict: string; results: { runId: string }[] }];

  expect(row.verdict).toBe('same');
  expect(exitCode).toBe(0);

  const [own, theirs] = row.results.map(({ runId }) => runId);
  expect(await listRunIds(project, {})).toEqual([own]);
  expect(await listRunIds(project, { env })).toEqual([theirs]);

  const capped = await run('--max-cost', '1');
  expect(capped.stderr()).toContain('--max-credits');
  expect(capped.exitCode).toBe(EXIT.usage);
});

it('compare asks judges on this machine about answers of another service, and resumes without asking again', async () => {
  const project = createProject();
  const before = await listRunIds(project, { env });
  const argv = ['compare', 'theirs', 'theirs', '-i', 'text=there', '--expect', 'theirs.test.yaml'];
  for (const flags of [[], ['--resume']]) {
    const { exitCode, stderr } = await project.run([...argv, '--judge', 'echo', ...flags], { env });
    expect(stderr()).toContain('neither yes nor no');
    expect(exitCode).toBe(EXIT.fault);
    expect(await listRunIds(project, {})).toHaveLength(2);
    expect(await listRunIds(project, { env })).toHaveLength(before.length + 2);
  }
});

it('test runs each file on the service of its target, and judges on this machine', async () => {
  const project = createProject();
  const before = await listRunIds(project, { env });
  const { exitCode, stdout } = await project.run(['test', '--judge', 'echo', '--json'], { env });
  expect(exitCode).toBe(EXIT.fault);
  expect(stdout()).toContain('the judge answered neither yes nor no');
  expect(await listRunIds(project, {})).toHaveLength(2);
  expect(await listRunIds(project, { env })).toHaveLength(before.length + 1);
});

it('test says what runs where, and never adds the credits of one service to the dollars of the other', async () => {
  const { home } = createProject();
  const host = new URL(service.service.url).host;
  const run = (...argv: string[]): Promise<CommandResult> =>
    runInProcess([...argv, '--judge', 'echo'], { home, env, local: localService });
  const forecast = await run('test', 'theirs.test.yaml', '--dry-run');

  expect(forecast.stderr()).toBe(
    `note: the judge runs here, not on ${host}\nnote: 1 case checked; nothing was created\nnote: 2 creations: about 1 credit, $0.00\n`,
  );

  const judged = await run('test', 'theirs.test.yaml');
  expect(judged.stderr()).toMatch(
    /^note: the judge runs here, not on .*\nnote: 2 runs took \d+ tokens, 1 credit, \$0\.00\nnote: {3}echo: \$0\.00\n/u,
  );
});
