import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** The measured costs of a creation, in milliseconds of processor time unless said otherwise. */
export interface Costs {
  /** The cost of sending the load, for each creation. */
  readonly client: number;
  /** The costs of an instance, for each creation and for each statement. */
  readonly node: number;
  readonly nodeStatement: number;
  /** The costs of the database, for each run in a statement and for each statement. */
  readonly databaseRow: number;
  readonly databaseStatement: number;
  /** The time that a commit waits for the disk and the network, on the clock. */
  readonly commit: number;
}

/** Who works where. */
export interface Installation {
  readonly instances: number;
  /** Creations that are open at a time, over all instances. */
  readonly open: number;
  readonly users: number;
  /** Processors of each machine that nobody else uses. */
  readonly processors: number;
  /** True if load, instances and database share one machine; otherwise each has one of its own. */
  readonly isOneMachine: boolean;
  /** Milliseconds between instance and database beyond what the commit has; default 0. */
  readonly roundTrip?: number;
}

export interface Prediction {
  /** Creations a second, each run carried out. */
  readonly perSecond: number;
  /**
   * Share of its processors that the database uses, and of the time that the busiest instance's
   * thread works.
   */
  readonly database: number;
  readonly instance: number;
}

const SIMULATED_MS = 2000;

/** Not counted: until all creations are spread over the stages. */
const WARM_UP_MS = 250;
const SEED = 42;

/** Runs that go into one statement, as the service has it. */
const MOST_TOGETHER = 64;

/** The share of an instance's work that comes before the run is created. */
const BEFORE_CREATION = 0.6;

/**
 * Simulates creations that follow one another as soon as they are answered. The same figures come
 * each time.
 */
export function predict(costs: Costs, installation: Installation): Prediction {
  return new Simulation(costs, installation).run();
}

/**
 * The costs behind the table of docs/scale.md: what `npm run bench load` measures in all on two
 * processors, divided between runs and statements as `npm run simulate` finds it.
 */
export const REFERENCE: Costs = {
  client: 0.2,
  node: 0.6,
  nodeStatement: 0.5,
  databaseRow: 0.12,
  databaseStatement: 0.3,
  commit: 1,
};

/**
 * Predicts what one machine can't show: instances and a database of four processors, each on its
 * own machine.
 */
export function predictFleets(costs: Costs) {
  return [1, 2, 4, 8, 16].map(instances => {
    const installation = {
      instances,
      open: 64 * instances,
      users: 64,
      processors: 4,
      roundTrip: 0.5,
    };
    return {
      instances,
      ...predict({ ...costs, client: 0 }, { ...installation, isOneMachine: false }),
    };
  });
}

interface Job {
  left: number;
  readonly done: () => void;
}

/** Processors of a machine, shared equally by what wants one. */
class Machine {
  readonly jobs = new Set<Job>();

  constructor(readonly processors: number) {}

  /** The share of a processor that each job gets. */
  get speed(): number {
    return Math.min(1, this.processors / this.jobs.size);
  }

  pass(ms: number): void {
    const { speed } = this;
    for (const job of this.jobs) job.left -= ms * speed;
  }
}

/** One thread: what is asked of it is done in turn. */
class Thread {
  readonly #waiting: Job[] = [];
  #isBusy = false;
  used = 0;

  constructor(readonly machine: Machine) {}

  work(ms: number, done: () => void): void {
    this.used += ms;
    this.#waiting.push({
      left: ms,
      done: () => {
        this.#isBusy = false;
        this.#next();
        done();
      },
    });
    this.#next();
  }

  #next(): void {
    if (this.#isBusy) return;
    const job = this.#waiting.shift();
    if (!job) return;
    this.#isBusy = true;
    this.machine.jobs.add(job);
  }
}

/** The lock on a user, which one statement has at a time. */
class Lock {
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  take(held: () => void): void {
    if (this.#isHeld) return void this.#waiting.push(held);
    this.#isHeld = true;
    held();
  }

  free(): void {
    const next = this.#waiting.shift();
    if (next) {
      next();
    } else {
      this.#isHeld = false;
    }
  }
}

/** Commits wait for the disk together: who comes while it writes is written with the next. */
class Disk {
  #next: (() => void)[] = [];
  #isWriting = false;

  constructor(
    readonly after: (ms: number, done: () => void) => void,
    readonly ms: () => number,
  ) {}

  write(done: () => void): void {
    this.#next.push(done);
    this.#start();
  }

  #start(): void {
    if (this.#isWriting || this.#next.length === 0) return;

    const written = this.#next;
    this.#next = [];
    this.#isWriting = true;

    this.after(this.ms(), () => {
      this.#isWriting = false;
      for (const done of written) done();
      this.#start();
    });
  }
}

/** Collects into one statement all creations that came while the one before was on its way. */
class Together {
  #waiting: (() => void)[] = [];
  #isOnItsWay = false;

  constructor(readonly send: (count: number, done: () => void) => void) {}

  add(done: () => void): void {
    this.#waiting.push(done);
    this.#next();
  }

  #next(): void {
    if (this.#isOnItsWay || this.#waiting.length === 0) return;
    const sent = this.#waiting.splice(0, MOST_TOGETHER);
    this.#isOnItsWay = true;

    this.send(sent.length, () => {
      this.#isOnItsWay = false;
      for (const done of sent) done();
      this.#next();
    });
  }
}

class Simulation {
  readonly #costs: Costs;
  readonly #installation: Installation;
  readonly #machines: Machine[] = [];
  readonly #random = xoroshiro128plus(SEED);
  readonly #timers: { readonly at: number; readonly done: () => void }[] = [];
  #now = 0;
  #created = 0;

  constructor(costs: Costs, installation: Installation) {
    this.#costs = costs;
    this.#installation = installation;
  }

  run(): Prediction {
    const { instances, open, users, isOneMachine } = this.#installation;
    const shared = this.#machine();
    const database = isOneMachine ? shared : this.#machine();
    const client = new Thread(shared);
    const locks = Array.from({ length: users }, () => new Lock());
    const disk = new Disk(
      (ms, done) => this.#after(ms, done),
      () => this.#about(this.#costs.commit),
    );
    const threads = Array.from(
      { length: instances },
      () => new Thread(isOneMachine ? shared : this.#machine()),
    );

    let databaseUsed = 0;
    const statement = (thread: Thread, lock: Lock | undefined) =>
      new Together((rows, done) => {
        const { databaseRow, databaseStatement, nodeStatement } = this.#costs;
        const { roundTrip = 0 } = this.#installation;
        const execute = (): void => {
          const ms = this.#about(databaseStatement + rows * databaseRow);
          databaseUsed += ms;
          database.jobs.add({
            left: ms,
            done: () =>
              disk.write(() => {
                lock?.free();
                this.#after(roundTrip / 2, done);
              }),
          });
        };

        thread.work(this.#about(nodeStatement), () =>
          this.#after(roundTrip / 2, () => (lock ? lock.take(execute) : execute())),
        );
      });

    const services = threads.map(thread => ({
      thread,
      creations: locks.map(lock => statement(thread, lock)),
      endings: statement(thread, undefined),
    }));

    for (let index = 0; index < open; index += 1) {
      const service = services[index % instances];
      const creations = service?.creations[Math.floor(index / instances) % users];
      if (service && creations) this.#createForEver(client, { ...service, creations });
    }

    this.#pass();
    const seconds = (SIMULATED_MS - WARM_UP_MS) / 1000;

    return {
      perSecond: this.#created / seconds,
      database: databaseUsed / (SIMULATED_MS * database.processors),
      instance: Math.max(...threads.map(({ used }) => used)) / SIMULATED_MS,
    };
  }

  #createForEver(
    client: Thread,
    service: { readonly thread: Thread; readonly creations: Together; readonly endings: Together },
  ): void {
    const { client: sending, node } = this.#costs;
    const { thread, creations, endings } = service;
    client.work(this.#about(sending), () =>
      thread.work(this.#about(node * BEFORE_CREATION), () =>
        creations.add(() =>
          thread.work(this.#about(node * (1 - BEFORE_CREATION)), () =>
            endings.add(() => {
              if (this.#now > WARM_UP_MS) this.#created += 1;
              this.#createForEver(client, service);
            }),
          ),
        ),
      ),
    );
  }

  #machine(): Machine {
    const machine = new Machine(this.#installation.processors);
    this.#machines.push(machine);
    return machine;
  }

  /** Returns a time spread evenly from half to one and a half of `ms`. */
  #about(ms: number): number {
    return ms * (0.5 + uniformFloat64(this.#random));
  }

  #after(ms: number, done: () => void): void {
    if (ms === 0) return done();
    const timer = { at: this.#now + ms, done };
    const later = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(later < 0 ? this.#timers.length : later, 0, timer);
  }

  /** Goes from one event to the next. */
  #pass(): void {
    while (this.#now < SIMULATED_MS) {
      const ends = this.#machines.flatMap(({ jobs, speed }) =>
        [...jobs].map(job => Math.max(0, job.left) / speed),
      );
      const next = Math.min(...ends, (this.#timers[0]?.at ?? Number.POSITIVE_INFINITY) - this.#now);
      if (!Number.isFinite(next)) return;

      this.#now += next;
      for (const machine of this.#machines) machine.pass(next);
      const due = this.#timers.filter(({ at }) => at <= this.#now);
      this.#timers.splice(0, due.length);
      for (const { done } of due) done();

      for (const { jobs } of this.#machines) {
        for (const job of [...jobs].filter(({ left }) => left <= 1e-9)) {
          jobs.delete(job);
          job.done();
        }
      }
    }
  }
}
