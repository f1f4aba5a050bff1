/** Returns a name, with a number such as `-2` after it unless it may be used as it is. */
export function findUnusedName(name: string, mayUse: (candidate: string) => boolean): string {
  let candidate = name;
  for (let number = 2; !mayUse(candidate); number += 1) candidate = `${name}-${number}`;
  return candidate;
}
