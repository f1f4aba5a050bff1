import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runCommand } from '../support/command.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, 'deploy', file), 'utf8');

interface Compose {
  readonly services: Record<
    string,
    {
      command?: string[];
      environment?: Record<string, string>;
      build?: { dockerfile: string };
      volumes?: string[];
    }
  >;
}

describe('the files for containers', () => {
  const compose = parse(read('compose.yaml'), { merge: true }) as Compose;
  const instances = Object.values(compose.services).filter(({ build }) => build);

  test('start two instances on one PostgreSQL', () => {
    expect(instances).toHaveLength(2);
    for (const { environment, build } of instances) {
      expect(environment?.['PROMPTRUN_DATABASE_URL']).toMatch(
        /^postgres:\/\/promptrun:.*@database:5432\/promptrun$/,
      );
      expect(read(path.basename(build?.dockerfile ?? ''))).toContain('ENTRYPOINT ["promptrun"]');
    }
  });

  test('give serve only flags that it has', async () => {
    const { stdout } = await runCommand(['serve', '--help']);
    const command = /^CMD (\["serve".*\])$/m.exec(read('Dockerfile'))?.[1] ?? '[]';
    const words = [
      ...instances.flatMap(({ command }) => command ?? []),
      ...(JSON.parse(command) as string[]),
    ];
    const flags = words.filter(word => word.startsWith('--'));
    expect(flags.length).toBeGreaterThan(3);
    for (const flag of flags) expect(stdout).toContain(`${flag} <`);
  });

  test('lead the load balancer to those instances', () => {
    const names = Object.keys(compose.services).filter(name => compose.services[name]?.build);
    const servers = [...read('nginx.conf').matchAll(/server (\w+):8787/g)].map(match => match[1]);
    expect(servers).toEqual(names);
  });
});
