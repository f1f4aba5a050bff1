import type { discoverModels } from '../../models/catalogue/discover.ts';
import type { keyVariables, listProviders, reportModels } from '../../models/catalogue/report.ts';
import type { newPrompt } from '../../prompts/built-in/files.ts';
import type { convertForeign, foreignTests } from '../../prompts/foreign/convert.ts';
import type { ConvertOptions } from '../../prompts/foreign/converted.ts';
import type { EmbeddedService, startEmbedded } from '../../service/embedded.ts';
import type { openStore } from '../../service/local-store.ts';
import type { startService } from '../../service/start-service.ts';

/** The local service as the command line gets it: main.ts loads each part when it is first used, and adds the environment. */
export interface LocalService {
  readonly start: (options: OptionsOf<typeof startEmbedded>) => Promise<EmbeddedService>;
  readonly serve: (options: OptionsOf<typeof startService>) => ReturnType<typeof startService>;
  readonly open: (options: OptionsOf<typeof openStore>) => ReturnType<typeof openStore>;
  readonly discoverModels: (options: OptionsOf<typeof discoverModels>) => ReturnType<typeof discoverModels>;
  readonly reportModels: (options: OptionsOf<typeof reportModels>) => ReturnType<typeof reportModels>;
  readonly listProviders: (options: OptionsOf<typeof listProviders>) => ReturnType<typeof listProviders>;
  readonly keyVariables: (options: OptionsOf<typeof keyVariables>) => ReturnType<typeof keyVariables>;
  readonly newPrompt: typeof newPrompt;
  readonly convertForeign: (
    text: string,
    file: string,
    options: Omit<ConvertOptions, 'settings'>,
  ) => ReturnType<typeof convertForeign>;
  readonly foreignTests: Later<typeof foreignTests>;
}

type OptionsOf<F extends (options: never) => unknown> = Omit<Parameters<F>[0], 'env'>;
type Later<F extends (...args: never[]) => unknown> = (...args: Parameters<F>) => Promise<ReturnType<F>>;
