import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that wait or take long: begun late, one of these would be waited for alone at the end.
 */
const SLOW = [
  '/test/service/store/postgres/',
  '/test/e2e/',
  '/test/page/',
  '/test/action/',
  '/test/cli/recordings/',
  '/test/cli/testing/',
  '/test/prompts/',
];

/** Starts the slow files of each project before the others. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => a.project.name.localeCompare(b.project.name) || rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const place = SLOW.findIndex(part => moduleId.includes(part));
  return place === -1 ? SLOW.length : place;
}
