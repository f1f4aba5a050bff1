import type { EmbeddedService, startEmbedded } from '../../service/embedded.ts';
import type { LocalStore, openStore } from '../../service/local-store.ts';
import type { startService } from '../../service/start-service.ts';

/**
 * The local service for the command line; main.ts loads each part on first use and adds the
 * environment.
 */
export interface LocalService {
  readonly start: (options: OptionsOf<typeof startEmbedded>) => Promise<EmbeddedService>;
  readonly serve: (options: OptionsOf<typeof startService>) => ReturnType<typeof startService>;
  /** Opens the store for as long as `use` takes. */
  readonly withStore: <T>(
    options: OptionsOf<typeof openStore>,
    use: (store: LocalStore) => Promise<T>,
  ) => Promise<T>;
  /** Returns true if a `serve` or a command uses the store in a data directory. */
  readonly isInUse: (dataDir: string) => Promise<boolean>;
}

type OptionsOf<F extends (options: never) => unknown> = Omit<Parameters<F>[0], 'env'>;
