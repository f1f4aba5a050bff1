import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Lifetime } from './process-lifetime.ts';

/** Matches a line of `ps`: the group of a process, and its age, such as `2-03:04:05` or `04:05`. */
const PROCESS_LINE =
  /^ *(?<groupId>\d+) +(?:(?:(?<days>\d+)-)?(?<hours>\d+):)?(?<minutes>\d+):(?<seconds>\d+) *$/gmu;

/** The ages that `ps` lists are whole seconds. */
const START_TOLERANCE_MS = 1000;

/** A process of a group. */
interface GroupMember {
  readonly groupId: number;
  /** Its start in milliseconds since 1970, exact to a second. */
  readonly began: number;
}

/** Ends the group of a process that has ended, if a member is from its lifetime. Never rejects. */
export async function endProcessGroup(leader: Lifetime): Promise<void> {
  const listing = promisify(execFile)('/bin/ps', ['-A', '-o', 'pgid=', '-o', 'etime='], {
    env: { LC_ALL: 'C' },
  });
  const members = parseMembers((await listing.catch(() => ({ stdout: '' }))).stdout, Date.now());
  if (!hasLed(leader, members)) return;

  try {
    process.kill(-leader.pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}

/** Parses lines with the group and the age of a process. */
export function parseMembers(listing: string, now: number): GroupMember[] {
  return [...listing.matchAll(PROCESS_LINE)].map(({ groups = {} }) => {
    const { groupId, days = 0, hours = 0, minutes, seconds } = groups;
    const ageMinutes = (Number(days) * 24 + Number(hours)) * 60 + Number(minutes);
    return { groupId: Number(groupId), began: now - (ageMinutes * 60 + Number(seconds)) * 1000 };
  });
}

/**
 * Returns true if a group was led by this process. If its id was reused, all members began later.
 */
export function hasLed({ pid, began, ended }: Lifetime, members: readonly GroupMember[]): boolean {
  return members.some(
    member =>
      member.groupId === pid &&
      member.began >= began - START_TOLERANCE_MS &&
      member.began <= ended + START_TOLERANCE_MS,
  );
}
