/** Tells living processes from dead ones. */
export interface Workers {
  /** This process's name as a worker; known to be alive from the first call on. */
  hold(): Promise<string>;
  /** The same if it was called already. */
  held(): string | undefined;
  /** True as well where it is not known. */
  isAlive(worker: string): Promise<boolean>;
  /** Removes what died workers left. */
  sweep(): Promise<void>;
  release(): Promise<void>;
}
