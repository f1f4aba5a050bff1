import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import type { RunPage } from '../../src/wire/index.ts';
import { runCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { findFreePort } from '../support/free-port.ts';
import { TestService } from '../support/local-service.ts';

const root = path.resolve(import.meta.dirname, '../..');
const readDeployFile = (file: string): string =>
  readFileSync(path.join(root, 'deploy', file), 'utf8');

interface Compose {
  readonly services: Record<
    string,
    {
      command?: string[];
      environment?: Record<string, string>;
      image?: string;
      build?: { dockerfile: string };
      volumes?: string[];
    }
  >;
}

const nginx = ['/usr/sbin', ...(process.env['PATH'] ?? '').split(path.delimiter)]
  .map(place => path.join(place, 'nginx'))
  .find(existsSync);

if (nginx === undefined) {
  process.stderr.write('nginx is not installed: its configuration is not tried.\n');
}

/** Starts nginx in front of these instances until the test ends. Returns its origin. */
async function startNginx(instances: readonly string[]): Promise<string> {
  const directory = createTemporaryDirectory();
  const port = await findFreePort();
  const getInstanceHost = (index: number): string => new URL(instances[index] ?? '').host;
  const tempPathLines = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    kind => `${kind}_temp_path ${directory}/${kind};`,
  );
  const config = readDeployFile('nginx.conf')
    .replace('http {', `http { access_log off; ${tempPathLines.join(' ')}`)
    .replace('one:8787', getInstanceHost(0))
    .replace('two:8787', getInstanceHost(1))
    .replace('listen 8080', `listen 127.0.0.1:${port}`);
  writeFileSync(path.join(directory, 'nginx.conf'), config);
  const fileOptions = [
    '-p',
    directory,
    '-c',
    path.join(directory, 'nginx.conf'),
    '-e',
    path.join(directory, 'error.log'),
  ];
  const nginxProcess = spawn(nginx ?? '', [
    ...fileOptions,
    '-g',
    `daemon off; pid ${directory}/nginx.pid;`,
  ]);
  onTestFinished(() => void nginxProcess.kill());
  const origin = `http://127.0.0.1:${port}`;

  await expect.poll(() => fetch(`${origin}/healthz`).then(({ status }) => status)).toBe(200);

  return origin;
}

describe('the files for containers', () => {
  const compose = parse(readDeployFile('compose.yaml'), { merge: true }) as Compose;
  const instances = Object.values(compose.services).filter(({ image }) => image === 'promptrun');

  test('start two instances of one image on one PostgreSQL', () => {
    expect(instances).toHaveLength(2);

    for (const { environment } of instances) {
      expect(environment?.['PROMPTRUN_DATABASE_URL']).toMatch(
        /^postgres:\/\/promptrun:.*@database:5432\/promptrun$/,
      );
    }

    const builds = instances.flatMap(({ build }) => build ?? []);
    expect(builds).toHaveLength(1);
    expect(readDeployFile(path.basename(builds[0]?.dockerfile ?? ''))).toContain(
      'ENTRYPOINT ["promptrun"]',
    );
  });

  test('pass only flags that serve has', async () => {
    const { stdout } = await runCommand(['serve', '--help']);
    const command = /^CMD (\["serve".*\])$/m.exec(readDeployFile('Dockerfile'))?.[1] ?? '[]';
    const words = [
      ...instances.flatMap(({ command }) => command ?? []),
      ...(JSON.parse(command) as string[]),
    ];
    const flags = words.filter(word => word.startsWith('--'));

    expect(flags.length).toBeGreaterThan(3);

    for (const flag of flags) expect(stdout).toContain(`${flag} <`);
  });

  test('lead the load balancer to those instances', () => {
    const names = Object.keys(compose.services).filter(
      name => compose.services[name]?.image === 'promptrun',
    );
    const servers = [...readDeployFile('nginx.conf').matchAll(/server (\w+):8787/g)].map(
      match => match[1],
    );
    expect(servers).toEqual(names);
  });

  test.skipIf(nginx === undefined)('make nginx send requests to the instances', async () => {
    const serviceA = await TestService.forTest();
    const serviceB = await TestService.forTest({ dataDir: serviceA.dataDir });
    const balancer = await startNginx([serviceA.service.url, serviceB.service.url]);
    const headers = { authorization: `Bearer ${serviceA.key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({
      promptVersionId: await serviceA.versionOf('hello'),
      inputs: { textInputs: { name: 'Ada' } },
    });
    const created = await fetch(`${balancer}/v1/runs`, { method: 'POST', headers, body });

    expect(created.status).toBe(200);

    for (let request = 0; request < 4; request += 1) {
      const answer = await fetch(`${balancer}/v1/runs`, { headers });
      const { data } = (await answer.json()) as { data: RunPage };
      expect(data.rows).toHaveLength(1);
    }
  });
});
