/** The lifetime of a process, in milliseconds since 1970. */
export interface Lifetime {
  readonly pid: number;
  readonly began: number;
  readonly ended: number;
}
