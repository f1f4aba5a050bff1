/** The service's clock as its `Date` headers show it, in whole seconds. */
export class ServiceClock {
  #offsetMs: number | undefined;

  /** How far the service's clock is ahead of the local one, in milliseconds; undefined while it has not sent its time. */
  get offsetMs(): number | undefined {
    return this.#offsetMs;
  }

  /** The service's time when the local clock showed `localMs`; undefined while it has not sent its own. */
  at(localMs: number): number | undefined {
    return this.#offsetMs === undefined ? undefined : localMs + this.#offsetMs;
  }

  /** Learns from an answer with the time `serviceMs` that came when the local clock showed `localMs`. */
  learn(serviceMs: number, localMs: number): void {
    this.#offsetMs = serviceMs - localMs;
  }
}
