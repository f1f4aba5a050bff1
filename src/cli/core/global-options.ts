/** The flags of every command, in the form in which commands use them. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly insecureHttp: boolean;
  /** True if prompt and test files may name files outside their folders. */
  readonly allowOutside: boolean;
  /** True if images may come from private addresses and unresolvable names. */
  readonly allowPrivate: boolean;
  /** A further models file as given on the command line; only some commands take it. */
  readonly models?: string;
  readonly json: boolean;
  /** A JMESPath expression; implies `json`. */
  readonly query?: string;
  readonly quiet: boolean;
  readonly debug: boolean;
  /** True with `--debug=body`, which implies `debug`. */
  readonly debugBody: boolean;
  readonly color: boolean;
  /** False with `--no-input`, which never asks questions. */
  readonly input: boolean;
  readonly spinner: boolean;
  readonly pager: boolean;
  /** The directory in which runs are recorded. */
  readonly record?: string;
  /** The directory of recordings that answer instead of the service. */
  readonly replay?: string;
  /** Time limit of the command in milliseconds; undefined for none. */
  readonly timeoutMs?: number;
}
