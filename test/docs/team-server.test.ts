import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { type RunningCommand, runCommand, startCommand } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import {
  findPostgresPrograms,
  type PostgresCluster,
  startPostgres,
} from '../support/databases/postgres.ts';
import { makeDatabase } from '../support/databases/test-database.ts';
import { listShellLines, readDocument, splitCommand } from '../support/documents.ts';

// Runs the lines of the guide word for word, except for what needs Docker: a process stands for the
// container `one`, a database server of the tests for the container `database`, and the address of
// the process for that of the guide.

const GUIDE =
  readDocument('docs/serve.md')
    .split("\n## Set up a team's server in ten minutes\n")[1]
    ?.split('\n## ')[0] ?? '';
const GUIDE_LINES = listShellLines(GUIDE);

const COMPOSE = 'docker compose -f deploy/compose.yaml ';
const IN_CONTAINER = `${COMPOSE}exec one `;
const IN_DATABASE = `${COMPOSE}exec -T database `;
const ADDRESS = 'https://prompts.example.com';

const programs = findPostgresPrograms();

it.skipIf(programs === undefined)(
  'leads two people, one an author, to a server that they share, and brings it back from a backup',
  async () => {
    const database = await startDatabase();
    const firstServer = await startInstance(database);
    const { people, posterUrl } = await followGuide(firstServer);

    expect(await fetchMediaType(posterUrl, firstServer)).toBe('image/png');
    expect(people).toHaveLength(2);

    const [author = '', colleague = ''] = people;
    const posterFile = path.join(author, 'poster.prompt');
    const publication = await runCommandHere(
      ['prompts', 'publish', posterFile, '--profile', 'team'],
      { home: colleague },
    );
    expect(publication.code).toBe(EXIT.unauthorised);

    const restoredServer = await restoreFromBackup(firstServer, database);
    expect(restoredServer.key()).toBeUndefined();
    expect(await fetchMediaType(posterUrl, restoredServer)).toBe('image/png');

    const runs = await runCommandHere(['runs', 'list', '--profile', 'team'], { home: colleague });
    expect(runs.stdout).toMatch(/\tPoster\n$/u);
  },
  120_000,
);

/**
 * Follows the guide until the first picture. Returns the home directories of the people, in the
 * order of their logins, and the URL that the last command printed.
 */
async function followGuide(server: Instance): Promise<{ people: string[]; posterUrl: string }> {
  const keys = await createKeys(server);
  const people: string[] = [];
  let posterUrl = '';
  for (const line of GUIDE_LINES.filter(guideLine => guideLine.startsWith('promptrun '))) {
    const argv = splitCommand(line).map(word => word.replace(ADDRESS, server.url));
    const isLogin = argv[0] === 'login';
    if (isLogin) people.push(createTemporaryDirectory());
    const stdin = isLogin ? `${keys[people.length - 1]}\n` : '';
    const { code, stdout, stderr } = await runCommandHere(argv, {
      home: people.at(-1) ?? '',
      stdin,
    });
    expect(code, `${line}\n${stderr}`).toBe(0);
    posterUrl = stdout;
  }
  return { people, posterUrl };
}

/** Creates the users and keys of the guide; returns the keys. */
async function createKeys(server: Instance): Promise<string[]> {
  const keys: string[] = [];
  for (const line of GUIDE_LINES.filter(guideLine => guideLine.startsWith(IN_CONTAINER))) {
    const { code, stdout } = await server.run(splitCommand(line.slice(IN_CONTAINER.length)));
    expect(code, line).toBe(0);
    keys.push(...(/^pr_\S+/.exec(stdout) ?? []));
  }

  expect(keys).toHaveLength(2);
  return keys;
}

/** Dumps the database, loses it, restores it, and starts the server at its former address. */
async function restoreFromBackup(server: Instance, database: Database): Promise<Instance> {
  const backupFolder = createTemporaryDirectory();
  const [dump = '', restore = ''] = GUIDE_LINES.filter(line => line.startsWith(IN_DATABASE));
  database.shell(dump.slice(IN_DATABASE.length), backupFolder);
  await server.stop();
  await database.empty();
  database.shell(restore.slice(IN_DATABASE.length), backupFolder);
  return await startInstance(database, new URL(server.url).port);
}

type Instance = Awaited<ReturnType<typeof startInstance>>;

/** Starts what the service of compose.yaml starts, on a port of this machine. */
async function startInstance({ url }: Database, port = '0') {
  const { one } = (parse(readDocument('deploy/compose.yaml'), { merge: true }) as Compose).services;
  const fillIn = (text: string): string => text.replace(/\$\{PUBLIC_URL:[^}]*\}/u, ADDRESS);
  const options = { home: createTemporaryDirectory(), env: { PROMPTRUN_DATABASE_URL: url } };

  expect(one.environment['PROMPTRUN_DATABASE_URL']).toMatch(
    /^postgres:\/\/promptrun:\$\{[^}]*\}@database:5432\/promptrun$/u,
  );

  const running: RunningCommand = startCommand(
    [...one.command.map(fillIn), '--port', port],
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

/** Returns the media type that a server answers for the printed URL of a picture. */
async function fetchMediaType(printedUrl: string, { url }: Instance): Promise<string | null> {
  expect(printedUrl).toMatch(new RegExp(`^${ADDRESS}/media/`, 'u'));
  const answer = await fetch(printedUrl.trim().replace(ADDRESS, url));
  return answer.headers.get('content-type');
}
