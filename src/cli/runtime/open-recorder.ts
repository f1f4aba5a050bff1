import type { PromptService } from '../../client/client.ts';
import type { ModelSources } from '../../models/catalogue/read-models-file.ts';
import type { RecordOptions } from '../recordings/create-recording.ts';
import type { ActiveRecordings, Recorder } from '../recordings/recorder.ts';
import { toOneLine } from '../terminal/sanitise.ts';

/** Opens the recorder or the replayer for the runs of a connection. */
export async function openRecorder(
  { mode, directory }: ActiveRecordings,
  options: Omit<RecordOptions, 'directory' | 'download' | 'readProviderKeys'> & {
    readonly client: () => PromptService;
    /** The places where models and the names of their keys are declared. */
    readonly models: ModelSources;
  },
): Promise<Recorder> {
  const { baseUrl, client, signal, findFault, findCost, models } = options;
  if (mode === 'replay') {
    const { replayFrom } = await import('../recordings/replay.ts');
    return replayFrom({ directory, baseUrl });
  }

  const { checkDirectory } = await import('../outputs/saving/check-writable.ts');
  checkDirectory(directory, '.', '--record');
  const { recordTo } = await import('../recordings/record.ts');
  const note = (line: string): void => options.note(toOneLine(line));

  return recordTo({
    directory,
    baseUrl,
    signal,
    note,
    findFault,
    findCost,
    readProviderKeys: async () =>
      (await import('../../models/catalogue/provider-keys.ts')).collectSecretKeys(models),
    download: (url, limits) => client().download(url, limits),
  });
}
