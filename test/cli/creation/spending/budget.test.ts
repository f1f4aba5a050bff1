import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toResultState } from '../../../../src/cli/batch/results/result-state.ts';
import { parseResultsLine } from '../../../../src/cli/batch/results/results-line.ts';
import { throwIfComparisonUnfinished } from '../../../../src/cli/comparing/comparison-end.ts';
import type { Connection, Context } from '../../../../src/cli/context.ts';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import type { CreationRequest } from '../../../../src/cli/creation/creation-result.ts';
import { Budget, type Reservation } from '../../../../src/cli/creation/spending/budget.ts';
import { capReachedError, parseCaps } from '../../../../src/cli/creation/spending/caps.ts';
import { toMoney } from '../../../../src/wire/money.ts';
import { collectGarbage } from '../../../support/system.ts';

const waitForTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** Returns a generator of the same numbers on every machine. */
function createSeededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The least credits, or units of money, that no run of a ledger costs. */
const CHARGE_LIMIT = 150;

/** A service that charges by its own ledger, whatever was estimated. */
class Ledger {
  readonly charges = new Map<string, number>();
  readonly random: () => number;
  readonly estimate: () => number | null;
  pages = 0;

  constructor(seed: number, estimate?: () => number | null) {
    this.random = createSeededRandom(seed);
    this.estimate = estimate ?? (() => Math.floor(this.random() * 100));
  }

  get sum(): number {
    return [...this.charges.values()].reduce((sum, charge) => sum + charge, 0);
  }

  /**
   * @param isEmbedded true for the embedded service, which reports what runs cost; of others only the list does
   */
  connection(isEmbedded = true): Connection {
    const pages = (): object[] => {
      this.pages += 1;
      const rows = [...this.charges].map(([runId, credits]) => ({
        runId,
        runStatus: 'succeeded',
        credits: credits === 0 ? null : credits,
      }));
      return [{ rows, hasMore: false }];
    };

    const costs = {
      readRunCosts: async (runIds: readonly string[]) => {
        for (let turns = Math.floor(this.random() * 4); turns > 0; turns -= 1) await waitForTurn();
        const costs = runIds.map(
          id =>
            [
              id,
              {
                model: 'm',
                tokens: null,
                cost: this.charges.get(id) ?? null,
                estimated: false,
                answers: 1,
              },
            ] as const,
        );
        return new Map(costs);
      },
      estimate: async () => ({ model: 'm', cost: this.estimate(), promptCost: 0, answers: 1 }),
    };

    const connection = { serviceName: 'local', isEmbedded, client: { runs: { pages } } };
    return (isEmbedded ? { ...connection, costs } : connection) as unknown as Connection;
  }
}

function createBudgetContext(signal = new AbortController().signal): Context {
  return { signal } as unknown as Context;
}

const request = {
  promptVersionId: 'v',
  body: {
    length: 2,
    async *chunks() {
      yield Buffer.from('{}');
    },
  },
} as unknown as CreationRequest;

interface CreateRunsOptions {
  readonly rows: number;
  readonly concurrency: number;
  readonly firstIndex?: number;
  readonly isEmbedded?: boolean;
}

/**
 * Creates up to `rows` runs, `concurrency` at a time, each of which ends after some turns of the
 * event loop.
 */
async function createRuns(
  budget: Budget,
  ledger: Ledger,
  { rows, concurrency, firstIndex = 0, isEmbedded = true }: CreateRunsOptions,
): Promise<{ createdCount: number; maxOpenCharge: number }> {
  const connection = ledger.connection(isEmbedded);
  let nextIndex = firstIndex;
  let createdCount = 0;
  let maxOpenCharge = 0;
  const openRunIds = new Set<string>();
  const worker = async (): Promise<void> => {
    while (nextIndex < rows) {
      const runId = `run-${nextIndex}`;
      nextIndex += 1;
      const reservation = await budget
        .reserve(connection, request, { estimatedCredits: 50 })
        .catch(() => undefined);
      if (reservation === undefined) return;

      openRunIds.add(runId);
      const charge = Math.floor(ledger.random() * CHARGE_LIMIT);
      ledger.charges.set(runId, charge);
      maxOpenCharge = Math.max(
        maxOpenCharge,
        [...openRunIds].reduce((sum, id) => sum + (ledger.charges.get(id) ?? 0), 0),
      );

      for (let turns = Math.floor(ledger.random() * 5); turns > 0; turns -= 1) {
        await waitForTurn();
      }

      await reservation.commitRun({ runId, tokens: 1 });
      openRunIds.delete(runId);
      createdCount += 1;
    }
  };

  await Promise.all(Array.from({ length: concurrency }, worker));
  return { createdCount, maxOpenCharge };
}

describe('a budget', () => {
  for (const concurrency of [1, 4, 16]) {
    for (const seed of [1, 2, 3]) {
      it(`of money is exceeded by at most the cost of the open runs, ${concurrency} at a time, seed ${seed}`, async () => {
        const ledger = new Ledger(seed);
        const cap = 30_000;
        const budget = new Budget(createBudgetContext(), { cost: cap, credits: undefined });
        const { createdCount, maxOpenCharge } = await createRuns(budget, ledger, {
          rows: 1000,
          concurrency,
        });

        // The cap allows so many that the runs overlap often.
        expect(createdCount).toBeGreaterThan(100);

        // With no run open, one more of the most expensive runs did not fit.
        expect(ledger.sum).toBeGreaterThan(cap - CHARGE_LIMIT);
        expect(ledger.sum).toBeLessThanOrEqual(cap + maxOpenCharge);
        expect(budget.capError?.exitCode).toBe(EXIT.capReached);
        expect((await budget.readTotals({ readsList: false })).cost).toBe(ledger.sum / 1e8);
      });

      it(`of credits is exceeded by at most the credits of the open runs, ${concurrency} at a time, seed ${seed}`, async () => {
        const ledger = new Ledger(seed);
        const cap = 3000;
        const budget = new Budget(createBudgetContext(), parseCaps({ maxCredits: String(cap) }));
        const { maxOpenCharge } = await createRuns(budget, ledger, {
          rows: 1000,
          concurrency,
          isEmbedded: false,
        });
        expect(ledger.sum).toBeLessThanOrEqual(cap + maxOpenCharge);
        expect(ledger.sum).toBeGreaterThan(cap - CHARGE_LIMIT);
      });
    }
  }

  describe('of a command that resumes an earlier one', () => {
    const CAP = 10_000;
    const CONCURRENCY = 4;

    /** Returns the ledger of a command that was stopped by its cap. */
    async function spendCap(): Promise<Ledger> {
      const ledger = new Ledger(7, () => CHARGE_LIMIT);
      const budget = new Budget(createBudgetContext(), { cost: CAP, credits: undefined });
      await createRuns(budget, ledger, { rows: 1000, concurrency: CONCURRENCY });
      expect(budget.capError?.exitCode).toBe(EXIT.capReached);
      return ledger;
    }

    /** Returns the budget of a command that resumes the one whose runs are in the ledger. */
    function resumeBudget(ledger: Ledger, cost: number): Budget {
      const budget = new Budget(createBudgetContext(), { cost, credits: undefined });
      const runs = [...ledger.charges.keys()].map(runId => ({ runId, tokens: 0 }));
      budget.countEarlierSpending(ledger.connection(), { runs, doubtIds: [] });
      return budget;
    }

    it('refuses a creation that does not fit with the earlier spending', async () => {
      const ledger = await spendCap();
      const budget = resumeBudget(ledger, CAP);
      await expect(budget.reserve(ledger.connection(), request)).rejects.toMatchObject({
        exitCode: EXIT.capReached,
      });
    });

    it('adds the earlier spending to its own under a higher cap', async () => {
      const ledger = await spendCap();
      const earlierSum = ledger.sum;
      const budget = resumeBudget(ledger, 2 * CAP);
      await createRuns(budget, ledger, {
        rows: 2000,
        concurrency: CONCURRENCY,
        firstIndex: 1000,
      });

      expect(ledger.sum).toBeGreaterThan(earlierSum);
      expect(ledger.sum).toBeLessThanOrEqual(2 * CAP + CONCURRENCY * CHARGE_LIMIT);
    });
  });

  it('refuses a creation only once no other one is open', async () => {
    const ledger = new Ledger(1, () => 60);
    const budget = new Budget(createBudgetContext(), { cost: 100, credits: undefined });
    const connection = ledger.connection();
    const first = await budget.reserve(connection, request);
    let second: Reservation | undefined;
    const waiting = budget.reserve(connection, request).then(reservation => (second = reservation));
    await waitForTurn();

    expect(second).toBeUndefined();

    ledger.charges.set('a', 10);
    await first.commitRun({ runId: 'a', tokens: 1 });
    await waiting;

    expect(second).toBeDefined();
  });

  it('counts a refused creation as nothing', async () => {
    const budget = new Budget(createBudgetContext(), { cost: 100, credits: undefined });
    const connection = new Ledger(1, () => 60).connection();
    (await budget.reserve(connection, request)).release();
    await expect(budget.reserve(connection, request)).resolves.toBeDefined();
  });

  it('counts a creation in doubt as estimated', async () => {
    const budget = new Budget(createBudgetContext(), { cost: 100, credits: undefined });
    const connection = new Ledger(1, () => 60).connection();
    (await budget.reserve(connection, request)).markInDoubt();

    await expect(budget.reserve(connection, request)).rejects.toMatchObject({
      status: 'CAP_REACHED',
      exitCode: EXIT.capReached,
      message: expect.stringContaining(' spent or reserved, and the next run'),
    });
  });

  it("reserves one creation of unknown cost at a time, and stops if its credits can't be read", async () => {
    const ledger = new Ledger(1);
    const budget = new Budget(createBudgetContext(), parseCaps({ maxCredits: '1000' }));
    const connection = ledger.connection(false);
    const first = await budget.reserve(connection, request, { estimatedCredits: 'many' });
    const second = budget.reserve(connection, request);
    await first.commitRun({ runId: 'not listed', tokens: 1 });

    await expect(second).rejects.toMatchObject({
      exitCode: EXIT.capReached,
      message: expect.stringContaining('could not be read'),
      // A higher cap would not help.
      hints: [expect.stringContaining('leave --max-credits out')],
    });

    expect(() => {
      throwIfComparisonUnfinished({ budget, comparedRows: [], judgements: undefined });
    }).toThrow(
      expect.objectContaining({ hints: [expect.stringContaining('leave --max-credits out')] }),
    );
  });

  it('allows a free creation under a cap of 0', async () => {
    const budget = new Budget(createBudgetContext(), parseCaps({ maxCost: '0' }));
    const connection = new Ledger(1, () => 0).connection();
    await expect(budget.reserve(connection, request)).resolves.toBeDefined();
  });

  it.each([
    { name: 'that has a price under --max-cost 0', caps: { maxCost: '0' } },
    { name: 'of unknown credits under --max-credits 0', caps: { maxCredits: '0' } },
  ])('refuses a creation $name', async ({ caps }) => {
    const budget = new Budget(createBudgetContext(), parseCaps(caps));
    const connection = new Ledger(1, () => 1).connection();
    await expect(budget.reserve(connection, request)).rejects.toMatchObject({
      exitCode: EXIT.capReached,
    });
  });

  it('refuses a model without a price under a cap on cost', async () => {
    const budget = new Budget(createBudgetContext(), parseCaps({ maxCost: '1' }));
    const refused = budget.reserve(new Ledger(1, () => null).connection(), request);
    await expect(refused).rejects.toMatchObject({
      exitCode: EXIT.usage,
      message: expect.stringContaining('price'),
    });
  });

  it('counts the standard price of the tokens of runs of unknown cost, and expects that of the next', async () => {
    const standardCost = 40;
    const costs = {
      readRunCosts: (runIds: readonly string[]) =>
        Promise.resolve(
          new Map(
            runIds.map(id => [
              id,
              { model: 'm', tokens: null, cost: null, standardCost, answers: 1 },
            ]),
          ),
        ),
      estimate: () => Promise.resolve({ model: 'm', cost: 5, promptCost: 0, answers: 1 }),
    };

    const connection = {
      serviceName: 'local',
      isEmbedded: true,
      client: {},
      costs,
    } as unknown as Connection;

    const budget = new Budget(createBudgetContext(), { cost: 100, credits: undefined });
    for (const runId of ['a', 'b']) {
      await (await budget.reserve(connection, request)).commitRun({ runId, tokens: 1 });
    }

    await expect(budget.reserve(connection, request)).rejects.toMatchObject({
      status: 'CAP_REACHED',
    });
    expect(await budget.readTotals({ readsList: false })).toMatchObject({
      cost: null,
      costUnknown: 2,
    });
  });

  it('keeps its cap through any number of kills, whatever is charged', async () => {
    const starts = fc.array(fc.record({ made: fc.nat(20), open: fc.nat(8) }), { maxLength: 4 });
    const charges = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 200, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(starts, charges, async (killed, charge) => {
        const ledger = new Ledger(1, () => 500);
        const connection = ledger.connection();
        const cap = 100_000;

        const lostRunIds: string[] = [];
        let budget = new Budget(createBudgetContext(), { cost: cap, credits: undefined });
        const start = (): void => {
          budget = new Budget(createBudgetContext(), { cost: cap, credits: undefined });
          const known = [...ledger.charges.keys()].filter(runId => !lostRunIds.includes(runId));
          budget.countEarlierSpending(connection, {
            runs: known.map(runId => ({ runId })),
            doubtIds: lostRunIds,
          });
        };

        const create = async (isLost: boolean): Promise<void> => {
          const reservation = await budget.reserve(connection, request);
          const runId = `run-${ledger.charges.size}`;
          ledger.charges.set(runId, charge[ledger.charges.size] ?? 500);

          if (isLost) {
            lostRunIds.push(runId);
          } else {
            await reservation.commitRun({ runId, tokens: 1 });
          }
        };

        for (const { made, open } of killed) {
          for (let run = 0; run < made; run += 1) await create(false);
          for (let run = 0; run < open; run += 1) await create(true);
          start();
        }

        await expect(
          (async () => {
            for (;;) await create(false);
          })(),
        ).rejects.toMatchObject({ exitCode: EXIT.capReached });

        const known = [...ledger.charges]
          .filter(([runId]) => !lostRunIds.includes(runId))
          .map(([, cost]) => cost);
        const overshoots = lostRunIds.map(
          runId => (ledger.charges.get(runId) ?? 0) - Math.max(0, ...known),
        );

        expect(ledger.sum).toBeLessThanOrEqual(
          cap + overshoots.reduce((sum, cost) => sum + Math.max(0, cost), 0),
        );
      }),
      { numRuns: 50, seed: 1 },
    );
  });

  it('adds up to the same amount after its costs went through a file of results', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1e12)), fc.nat(1e12), (costs, credits) => {
        const line = { row: 1, runStatus: 'succeeded', error: null, outputs: [], tokens: 1 };
        const resultsLines = costs.map((cost, index) =>
          JSON.stringify({
            ...line,
            id: String(index),
            runId: String(index),
            cost: cost / 1e8,
            credits: credits / 1e6,
          }),
        );
        const read = resultsLines.flatMap(
          text => toResultState(parseResultsLine(text) ?? { ...line, runId: null }).runs,
        );
        const budget = new Budget(createBudgetContext(), parseCaps({}));
        budget.countEarlierSpending(new Ledger(1).connection(), { runs: read, doubtIds: [] });
        const { runs, cost, credits: sum } = budget.computeTotals();

        expect([runs, cost ?? 0]).toEqual([
          costs.length,
          costs.reduce((all, one) => all + one, 0) / 1e8,
        ]);
        expect(sum ?? 0).toBe((credits * costs.length) / 1e6);
      }),
      { seed: 1 },
    );
  });

  it('does not hold the requests that it reserves for, such as all those of a provider batch', async () => {
    const budget = new Budget(createBudgetContext(), parseCaps({ maxCost: '1' }));
    const connection = new Ledger(1, () => 0).connection();
    const reserveWeakly = async (): Promise<[Reservation, WeakRef<CreationRequest>]> => {
      const ownRequest = { ...request };
      return [await budget.reserve(connection, ownRequest), new WeakRef(ownRequest)];
    };

    const [reservation, weakRequest] = await reserveWeakly();
    await waitForTurn();
    collectGarbage();

    expect(weakRequest.deref()).toBeUndefined();

    await reservation.commitRun({ runId: 'r', tokens: 1 });
  });

  it('adds up many small amounts exactly', async () => {
    const budget = new Budget(createBudgetContext(), parseCaps({ maxCost: '1' }));
    const ledger = new Ledger(1, () => 0);

    const connection = ledger.connection();
    for (let run = 0; run < 1000; run += 1) {
      ledger.charges.set(`r${run}`, toMoney(0.0001));
      await (await budget.reserve(connection, request)).commitRun({ runId: `r${run}`, tokens: 1 });
    }

    expect((await budget.readTotals({ readsList: false })).cost).toBe(0.1);
  });

  it.each(['1e3', '-1', 'abc', '1,5', ''])('takes plain decimal numbers only, not %j', text => {
    expect(() => parseCaps({ maxCost: text })).toThrow('--max-cost needs a plain decimal number');
    expect(() => parseCaps({ maxCredits: text })).toThrow(
      '--max-credits needs a plain decimal number',
    );
  });
});

it('the error at a cap rounds the estimate unless it would then seem to fit', () => {
  const formatError = (cap: number, estimate: number): string =>
    capReachedError('cost', toMoney(cap), { spent: toMoney(0), estimate: toMoney(estimate) })
      .message;
  expect(formatError(0.0005, 0.0005003)).toBe(
    'stopped at --max-cost: $0.00 of $0.0005 spent, and the next run is estimated at $0.0005003',
  );
  expect(formatError(0.0004, 0.0005003)).toMatch(/estimated at \$0\.0005$/u);
});
