import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Env } from '../utils/env.ts';
import type { Lifetime } from './process-lifetime.ts';
import { getWindowsProgramPath } from './system-programs.ts';

/** Maximum time for listing or ending processes, in milliseconds. */
const PROCESS_LIST_TIMEOUT_MS = 10_000;

const POWERSHELL = String.raw`WindowsPowerShell\v1.0\powershell.exe`;

const LIST_PROCESSES_ARGS = [
  '-NoProfile',
  '-NonInteractive',
  '-Command',
  'Get-CimInstance Win32_Process | Where-Object CreationDate | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $($_.CreationDate.ToFileTimeUtc())" }',
];

/** Milliseconds from 1601, when file times of Windows begin, to 1970. */
const FILE_TIME_OF_1970_MS = 11_644_473_600_000;

/** File times count units of 100 ns. */
const FILE_TIMES_PER_MS = 10_000;

interface ListedProcess {
  readonly pid: number;
  readonly parentPid: number;
  readonly began: number;
}

/** Ends a running process and all processes that it started. Never rejects. */
export async function endTree(pid: number, env: Env): Promise<void> {
  await runSystemProgram('taskkill.exe', ['/PID', String(pid), '/T', '/F'], env);
}

/**
 * Ends the processes that a process left running, which taskkill no longer finds. Never rejects.
 */
export async function endOrphans(root: Lifetime, env: Env): Promise<void> {
  const listing = await runSystemProgram(POWERSHELL, LIST_PROCESSES_ARGS, env);
  const orphans = findOrphanPids(root, parseProcesses(listing));
  await Promise.all(orphans.map(pid => endTree(pid, env)));
}

/** Parses lines with a process id, its parent's id, and its start as a file time. */
export function parseProcesses(listing: string): ListedProcess[] {
  return [...listing.matchAll(/^(\d+) (\d+) (\d+)\r?$/gmu)].map(([, pid, parentPid, fileTime]) => ({
    pid: Number(pid),
    parentPid: Number(parentPid),
    began: Number(fileTime) / FILE_TIMES_PER_MS - FILE_TIME_OF_1970_MS,
  }));
}

/**
 * Returns the children of a process that has ended. If its id was reused, the other children began
 * later.
 */
export function findOrphanPids(root: Lifetime, processes: readonly ListedProcess[]): number[] {
  return processes
    .filter(
      ({ parentPid, began }) =>
        parentPid === root.pid && began >= root.began && began <= root.ended,
    )
    .map(({ pid }) => pid);
}

async function runSystemProgram(name: string, args: readonly string[], env: Env): Promise<string> {
  const options = {
    env: { ...env },
    windowsHide: true,
    timeout: PROCESS_LIST_TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  };
  const run = promisify(execFile)(getWindowsProgramPath(name, env), args, options);
  return (await run.catch(() => ({ stdout: '' }))).stdout;
}
