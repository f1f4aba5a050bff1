export type Env = Readonly<Record<string, string | undefined>>;

/** The flags every command takes, before and after its name. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly insecureHttp: boolean;
  /** Whether a prompt or test file may name files outside its folder. */
  readonly allowOutside: boolean;
  /** Whether pictures may come from private addresses and from names that this machine can't resolve. */
  readonly allowPrivate: boolean;
  /** A file with more models, as the command line has it; not of every command. */
  readonly models?: string;
  readonly json: boolean;
  /** A JMESPath expression; implies `json`. */
  readonly query?: string;
  readonly quiet: boolean;
  readonly debug: boolean;
  /** With `--debug=body`, which implies `debug`. */
  readonly debugBody: boolean;
  readonly color: boolean;
  /** False with `--no-input`: nothing is ever asked. */
  readonly input: boolean;
  readonly spinner: boolean;
  readonly pager: boolean;
  /** A directory that every run is recorded in. */
  readonly record?: string;
  /** A directory of recordings that answer in place of the service. */
  readonly replay?: string;
  /** How long to wait, in milliseconds; undefined waits as long as it takes. */
  readonly timeoutMs?: number;
}

/**
 * Writes a command line to advise, which does what is promised as it is printed: with the flags that chose the service.
 *
 * @param words after `promptrun`, each quoted where a shell needs it
 */
export type Advise = (...words: readonly string[]) => string;

/** The time, its passing and chance, injected so that tests need none of them. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to 1. */
  random(): number;
}
