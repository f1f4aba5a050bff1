import type { OutputItem, Run } from '../../../../src/wire/index.ts';
import { png } from '../../../support/png.ts';
import {
  type ScriptedService,
  startScriptedServiceForTest,
} from '../../../support/scripted-service.ts';
import { creation, succeededRun, VERSION } from './run-against-service.ts';

export const RUN_IT = ['run', VERSION, '-i', 'name=Ada'];
export const PICTURE = png(4, 3);

export async function startServiceWithOutputs(
  outputs: OutputItem[],
  more: Partial<Run> = {},
): Promise<ScriptedService> {
  return startScriptedServiceForTest(creation(succeededRun({ outputs, ...more })));
}
