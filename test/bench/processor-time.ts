import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

/** The unit of processor times in `/proc`, in ticks per second. */
const TICKS = 100;

/** Gives the process that starts a database's others. */
export async function findPostmaster(database: string): Promise<number> {
  const client = new pg.Client(database);
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return (await readStat(String(rows[0]?.pid)))?.parent ?? 0;
  } finally {
    await client.end();
  }
}

/** Seconds of processor time that a process, and another with those it started, have taken. */
export async function readCpuTimes(
  pid: number | undefined,
  postmaster: number,
): Promise<readonly [number, number]> {
  const names = await readdir('/proc').catch(() => []);
  const all = await Promise.all(names.filter(name => /^\d+$/.test(name)).map(readStat));
  const sumTimes = (isCounted: (stat: Stat) => boolean): number =>
    all.reduce((sum, stat) => sum + (stat && isCounted(stat) ? stat.seconds : 0), 0);

  return [
    sumTimes(stat => stat.pid === pid),
    sumTimes(stat => stat.pid === postmaster || stat.parent === postmaster),
  ];
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly seconds: number;
}

async function readStat(name: string): Promise<Stat | undefined> {
  const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => undefined);

  // The name may hold anything. The state, the parent and, from the 12th field on, the times come
  // after it.
  const fields = text
    ?.slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  if (!fields) return undefined;

  const ticks = fields.slice(11, 15).reduce((sum, time) => sum + time, 0);
  return { pid: Number(name), parent: fields[1] ?? 0, seconds: ticks / TICKS };
}
