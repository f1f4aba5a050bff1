// Fuzzes for the given minutes, 10 by default, with a new seed each time:
// npm run fuzz -- 60
// To repeat a finding: FUZZ_SEED=… FUZZ_MINUTES=… npx vitest run test/fuzz
import { startVitest } from 'vitest/node';

const [minutes = '10'] = process.argv.slice(2);
process.env.FUZZ_MINUTES = minutes;
process.env.FUZZ_SEED ??= String(Date.now() % 2 ** 31);
process.stdout.write(`seed ${process.env.FUZZ_SEED}\n`);
const vitest = await startVitest('test', ['test/fuzz/fuzz.test.ts'], { watch: false });
await vitest.close();
