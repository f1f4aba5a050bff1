import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from '../../utils/error-utils.ts';
import { readIfReadable } from '../read-text.ts';

/** Returns true if a process of this machine is running, or can't be checked. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/** Returns the namespace of process ids: this boot of the machine, or a container on it. */
export function pidNamespace(): { host: string; space: string } {
  const bootId = readIfReadable('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return { host: hostname(), space: `${bootId} ${linuxPidNamespace()}` };
}

function linuxPidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Returns the start time of a process, to recognise a reused id; null if the system doesn't report it. */
export type StartTimeOf = (pid: number) => string | null;

export function startTime(pid: number): string | null {
  return readProcessStat(pid)[19] ?? null;
}

/**
 * Returns true if a process has ended, but its parent has not asked how. A container's first process may never ask. While
 * other threads of it end, it is not one: they may still write.
 */
function isZombie(pid: number): boolean {
  const stat = readProcessStat(pid);
  return stat[0] === 'Z' && Number(stat[17]) <= 1;
}

/**
 * Reads the facts about a process from its state on, the third in proc_pid_stat(5); none if the system doesn't report them.
 *
 * @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function readProcessStat(pid: number): readonly string[] {
  const stat = readIfReadable(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
}
