import type { ModelTable } from '../models/catalogue/table.ts';
import type { LoadedImage } from '../prompts/images/loaded-image.ts';
import type { PromptTasks } from '../prompts/tasks/prompt-tasks.ts';
import type { ImageInput } from '../wire/index.ts';
import type { Clock } from './clock.ts';
import type { Media } from './media/media.ts';
import type { Definitions } from './prompts/definitions.ts';
import type { ResourcesView } from './resources-view.ts';
import type { InputFiles } from './runs/input-files.ts';
import type { MediaUrl } from './runs/run-rows.ts';
import type { Runner } from './runs/run-work.ts';
import type { UserLimits } from './store/run-records.ts';
import type { Store } from './store/store.ts';

/** What the routes work with. */
export interface Services {
  readonly store: Store;
  readonly runner: Runner;
  readonly limits: UserLimits;
  readonly definitions: Definitions;
  readonly tasks: PromptTasks;
  readonly models: ModelTable;
  readonly resources: ResourcesView;
  readonly media: Media;
  readonly inputs: InputFiles;
  readonly clock: Clock;
  readonly syncWindowMs: number;
  /** Whether only the user `local` sees the templates of prompts. */
  readonly hideTemplates: boolean;
  /** Where the media of an output is to be had; `origin` is what a signed URL of this answer begins with. */
  readonly mediaUrl: MediaUrl;
  /** Checks and reads the pictures of a creation; throws ApiError, and what `onBytes` throws of those fetched. */
  readonly loadImages: (images: ImageInput[], onBytes: (count: number) => void) => Promise<LoadedImage[]>;
}
