import type { FastifyRequest } from 'fastify';
import type { ImageInput } from '../wire/index.ts';
import type { Clock } from './clock.ts';
import type { LoadedImage } from './images/index.ts';
import type { Media } from './media/media.ts';
import type { ModelTable, ResourcesView } from './models/index.ts';
import type { Definitions } from './prompts/definitions.ts';
import type { InputFiles } from './runs/input-files.ts';
import type { Runner } from './runs/runner.ts';
import type { Store } from './store/store.ts';

/** What the routes work with. */
export interface Services {
  readonly store: Store;
  readonly runner: Runner;
  readonly definitions: Definitions;
  readonly models: ModelTable;
  readonly resources: ResourcesView;
  readonly media: Media;
  readonly inputs: InputFiles;
  readonly clock: Clock;
  readonly syncWindowMs: number;
  /** Scheme, host and port that media URLs of this answer begin with. */
  readonly origin: (request: FastifyRequest) => string;
  /** Checks and reads the pictures of a creation; throws InvalidImage. */
  readonly loadImages: (images: ImageInput[]) => Promise<LoadedImage[]>;
}
