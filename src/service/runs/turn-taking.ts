/** A run as far as turns are concerned. */
export interface Turn {
  id: string;
  userId: number;
}

/** Which runs this process has in hand, and whose may be started. */
export class TurnTaking {
  readonly #limit: number;
  readonly #userOf = new Map<string, number>();
  /** Whether there may be queued runs: then a new one waits for its turn. */
  moreLeft = false;

  /** @param limit runs at a time; a user who has none running may start one beyond it */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get free(): number {
    return Math.max(0, this.#limit - this.#userOf.size);
  }

  /** Starts a new run if there is room; false if it has to be queued. */
  take(turn: Turn): boolean {
    const room = this.free > 0 && !this.moreLeft;
    const may = room || !this.byUser().has(turn.userId);
    if (may) this.begin(turn);
    else this.moreLeft = true;
    return may;
  }

  begin({ id, userId }: Turn): void {
    this.#userOf.set(id, userId);
  }

  end(id: string): void {
    this.#userOf.delete(id);
  }

  has(id: string): boolean {
    return this.#userOf.has(id);
  }

  /** How many runs of each user are in hand. */
  byUser(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const userId of this.#userOf.values()) counts.set(userId, (counts.get(userId) ?? 0) + 1);
    return counts;
  }
}
