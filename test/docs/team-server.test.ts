import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { type RunningCommand, runCommand, startCommand } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { temporaryDirectory } from '../support/context.ts';
import {
  type PostgresCluster,
  postgresPrograms,
  startPostgres,
} from '../support/databases/postgres.ts';
import { makeDatabase } from '../support/databases/test-database.ts';
import { documentText, shellLines, splitCommand } from '../support/documents.ts';

// The lines of the guide, word for word, but for what docker does: here the container `one` is a
// process, the container `database` a server of the tests' own, and the address that of the
// process.

const GUIDE =
  documentText('docs/serve.md')
    .split("\n## Set up a team's server in ten minutes\n")[1]
    ?.split('\n## ')[0] ?? '';

const COMPOSE = 'docker compose -f deploy/compose.yaml ';
const IN_CONTAINER = `${COMPOSE}exec one `;
const IN_DATABASE = `${COMPOSE}exec -T database `;
const ADDRESS = 'https://prompts.example.com';

const programs = postgresPrograms();

it.skipIf(programs === undefined)(
  'leads two people, one an author, to a server that they share, and brings it back from a backup',
  async () => {
    const lines = shellLines(GUIDE);
    const database = await startDatabase();

    let server = await startInstance(database);

    const keys: string[] = [];
    for (const line of lines.filter(line => line.startsWith(IN_CONTAINER))) {
      const { code, stdout } = await server.run(splitCommand(line.slice(IN_CONTAINER.length)));
      expect(code, line).toBe(0);
      keys.push(...(/^pr_\S+/.exec(stdout) ?? []));
    }

    expect(keys).toHaveLength(2);

    const homes = keys.map(() => temporaryDirectory());
    let person = -1;
    let output = '';
    for (const line of lines.filter(line => line.startsWith('promptrun '))) {
      const words = splitCommand(line).map(word => word.replace(ADDRESS, server.url));
      if (words[0] === 'login') person += 1;
      const stdin = words[0] === 'login' ? `${keys[person]}\n` : '';
      const outcome = await runCommandHere(words, { home: homes[person] ?? '', stdin });
      expect(outcome.stderr, line).toEqual(expect.any(String));
      expect(outcome.code, line).toBe(0);
      output = outcome.stdout;
    }

    expect(person).toBe(1);
    expect(await pictureAt(output, server.url)).toBe('image/png');

    const [ada = '', ben = ''] = homes;
    const refused = ['prompts', 'publish', path.join(ada, 'poster.prompt'), '--profile', 'team'];

    expect(await runCommandHere(refused, { home: ben })).toMatchObject({ code: EXIT.unauthorised });

    const place = temporaryDirectory();
    const [dump = '', restore = ''] = lines.filter(line => line.startsWith(IN_DATABASE));
    database.shell(dump.slice(IN_DATABASE.length), place);
    await server.stop();
    await database.empty();
    database.shell(restore.slice(IN_DATABASE.length), place);
    server = await startInstance(database, new URL(server.url).port);

    expect(server.key()).toBeUndefined();
    expect(await pictureAt(output, server.url)).toBe('image/png');

    const { stdout } = await runCommandHere(['runs', 'list', '--profile', 'team'], { home: ben });
    expect(stdout).toMatch(/\tPoster\n$/u);
  },
  120_000,
);

/** Starts what the service of compose.yaml starts, on a port of this machine. */
async function startInstance({ url }: Database, port = '0') {
  const { one } = (parse(documentText('deploy/compose.yaml'), { merge: true }) as Compose).services;
  const filledIn = (text: string): string => text.replace(/\$\{PUBLIC_URL:[^}]*\}/u, ADDRESS);
  const options = { home: temporaryDirectory(), env: { PROMPTRUN_DATABASE_URL: url } };

  expect(one.environment['PROMPTRUN_DATABASE_URL']).toMatch(
    /^postgres:\/\/promptrun:\$\{[^}]*\}@database:5432\/promptrun$/u,
  );

  const running: RunningCommand = startCommand(
    [...one.command.map(filledIn), '--port', port],
    options,
  );
  onTestFinished(() => void running.child.kill());
  const [, ownPort = ''] = await running.untilStdout(
    /^listening on http:\/\/0\.0\.0\.0:(\d+)\/v1$/mu,
  );

  expect(running.stderr()).not.toContain('warning:');

  return {
    url: `http://127.0.0.1:${ownPort}`,
    key: () => /^key: (\S+)$/mu.exec(running.stdout())?.[1],
    run: (words: readonly string[]) => runCommand(words, options),
    async stop() {
      running.child.kill();
      await running.ended;
    },
  };
}

interface Compose {
  readonly services: { readonly one: { command: string[]; environment: Record<string, string> } };
}

type Database = Awaited<ReturnType<typeof startDatabase>>;

/** Starts the database of compose.yaml, and the shell of its container. */
async function startDatabase() {
  const cluster: PostgresCluster = await startPostgres();
  onTestFinished(() => cluster.remove());
  const { hostname, port } = new URL(cluster.url);

  const env = { PATH: `${programs}:/usr/bin:/bin`, PGHOST: hostname, PGPORT: port };
  const shell = (line: string, cwd: string): void => {
    const { status, stderr } = spawnSync('sh', ['-c', line], { cwd, env, encoding: 'utf8' });
    expect([line, status, stderr]).toEqual([line, 0, '']);
  };

  shell('createuser -U postgres --superuser promptrun', '/');
  const url = new URL(await makeDatabase(cluster.url, 'promptrun'));
  url.username = 'promptrun';

  return {
    url: url.href,
    shell,
    async empty() {
      shell('dropdb -U postgres promptrun', '/');
      await makeDatabase(cluster.url, 'promptrun');
    },
  };
}

/** Fetches the printed URL of a picture; the address stands for the server. */
async function pictureAt(printedUrl: string, server: string): Promise<string | null> {
  expect(printedUrl).toMatch(new RegExp(`^${ADDRESS}/media/`, 'u'));
  const answer = await fetch(printedUrl.trim().replace(ADDRESS, server));
  return answer.headers.get('content-type');
}
