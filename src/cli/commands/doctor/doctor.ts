import { NetworkError, PaymentRequiredError, UnauthorizedError } from '../../../client/errors.ts';
import type { ModelsReport } from '../../../models/catalogue/report-models.ts';
import type { Connection, Context } from '../../context.ts';
import { formatIsoAge } from '../../core/durations.ts';
import { TimeLimitError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { type Failure, toFailure } from '../../core/failure.ts';
import { pluralize } from '../../core/pluralize.ts';
import { present } from '../../outputs/present.ts';
import { type Address, resolveAddress, resolveKey } from '../../settings/config/address.ts';
import { SETTING_KEYS } from '../../settings/config/setting-keys.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import { formatPlainRows } from '../../terminal/table.ts';

/** Maximum time for an answer of the service, in milliseconds. */
const DOCTOR_TIMEOUT_MS = 15_000;

const NETWORK_HINT = 'Check the address, the network, and HTTPS_PROXY if you need one.';

/** The beginning of hints that piped output reports even if their check passed. */
const WARNING_PREFIX = 'warning: ';

interface DoctorCheck {
  readonly name:
    | 'configuration'
    | 'reachability'
    | 'key'
    | 'cache'
    | 'models'
    | 'provider'
    | 'terminal';
  /** Null if an earlier failure made the check impossible. */
  readonly ok: boolean | null;
  readonly detail: string;
  /** The next steps for the user. */
  readonly hints: readonly string[];
  readonly exitCode?: ExitCode;
}

/**
 * Checks configuration, reachability, key, cache and terminal, and with the embedded service its
 * models and providers; fails if one of them does.
 */
export async function runDoctor(ctx: Context): Promise<ExitCode> {
  const checks = [...(await checkSetup(ctx)), checkTerminal(ctx)];
  const failedCheck = checks.find(({ ok }) => ok === false);
  const reportedChecks = checks.map(({ name, ok, detail, hints }) => ({ name, ok, detail, hints }));
  await present(
    ctx,
    { ok: failedCheck === undefined, checks: reportedChecks },
    {
      terminal: () => checks.flatMap(check => formatCheck(ctx, check)).join('\n'),
      plain: () =>
        formatPlainRows(
          checks.map(({ name, ok, detail }) => [name, formatCheckResult(ok), detail]),
        ),
    },
  );

  if (!ctx.io.stdout.isTerminal) {
    for (const hint of listPipedHints(checks)) ctx.io.note(toOneLine(hint));
  }

  return failedCheck?.exitCode ?? EXIT.ok;
}

/** Returns the hints to report beside piped output: those of the first failure, and all warnings. */
function listPipedHints(checks: readonly DoctorCheck[]): string[] {
  const failedCheck = checks.find(({ ok }) => ok === false);
  return checks.flatMap(check =>
    check.hints.filter(hint => check === failedCheck || hint.startsWith(WARNING_PREFIX)),
  );
}

async function checkSetup(ctx: Context): Promise<readonly DoctorCheck[]> {
  const { check, connection } = await checkConfiguration(ctx);
  if (connection === undefined) {
    return [
      check,
      buildSkippedCheck('reachability'),
      buildSkippedCheck('key'),
      buildSkippedCheck('cache'),
    ];
  }

  const serviceChecks = await withSpinner(ctx, 'asking the service', checkService(ctx, connection));
  if (!connection.isEmbedded) return [check, ...serviceChecks];

  const modelChecks = await withSpinner(ctx, 'asking the providers', checkModels(ctx));
  return [check, ...serviceChecks, ...modelChecks];
}

function checkTerminal({ io, isInteractive }: Context): DoctorCheck {
  const { isTerminal, columns } = io.stdout;
  const colours = io.paint.level > 0 ? 'colours' : 'no colours';
  const questions = isInteractive ? 'asks questions' : 'asks no questions';
  return buildPassedCheck(
    'terminal',
    `${isTerminal ? `a terminal, ${columns} columns` : 'no terminal'}, ${colours}, ${questions}`,
  );
}

function formatCheck(
  { io: { paint } }: Context,
  { name, ok, detail, hints }: DoctorCheck,
): string[] {
  const paintState = ok ? paint.green : paint.red;
  const state = (ok === null ? paint.dim : paintState)(formatCheckResult(ok).padEnd(8));
  const line = `${state}${name.padEnd(14)}${toOneLine(detail)}`;
  return [line, ...hints.map(hint => `${' '.repeat(22)}${toOneLine(hint)}`)];
}

function formatCheckResult(ok: boolean | null): string {
  if (ok === null) return 'skipped';
  return ok ? 'ok' : 'failed';
}

/** Reads the configuration, and the local store if it is used; resolves the service and the key. */
async function checkConfiguration(
  ctx: Context,
): Promise<{ check: DoctorCheck; connection: Connection | undefined }> {
  try {
    // These calls only throw the errors of damaged files.
    for (const key of SETTING_KEYS) ctx.settings.get(key);
    ctx.settings.credentials.find('');

    const address = resolveAddress(ctx);
    const key = address.isEmbedded ? undefined : await resolveKey(ctx, address);
    const connection = await ctx.connection();

    return {
      check: buildPassedCheck('configuration', describeAddress(address, key?.source)),
      connection,
    };
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    return { check: buildFailedCheck('configuration', toFailure(error)), connection: undefined };
  }
}

function describeAddress(address: Address, keySource: string | undefined): string {
  if (address.isEmbedded) return 'the embedded service (profile local)';
  const { value, source } = address.baseUrl;
  return `${value} from ${source}, key from ${keySource ?? 'nowhere'}`;
}

/** Checks reachability, key and cache with one request for the models. */
async function checkService(ctx: Context, connection: Connection): Promise<readonly DoctorCheck[]> {
  const cachedModels = connection.resources.getCached();
  const startedAt = ctx.clock.now();
  try {
    const { hash, resources } = await connection.resources.refresh({
      timeoutMs: DOCTOR_TIMEOUT_MS,
      retries: 0,
      signal: ctx.signal,
    });

    const durationMs = ctx.clock.now() - startedAt;
    const cacheState = connection.resources.isPersisted
      ? describeCacheChange(cachedModels, hash, ctx.clock.now())
      : 'which could not be written to the cache; see --debug';

    return [
      buildPassedCheck(
        'reachability',
        `${connection.isEmbedded ? 'embedded:' : connection.baseUrl} answered in ${durationMs} ms`,
      ),
      buildPassedCheck('key', 'accepted'),
      buildPassedCheck('cache', `${pluralize(resources.models.length, 'model')}, ${cacheState}`),
    ];
  } catch (error) {
    if (ctx.signal.aborted && !(ctx.signal.reason instanceof TimeLimitError)) throw error;
    return buildFailedChecks(connection, error);
  }
}

function describeCacheChange(
  cachedModels: { hash: string; fetchedAt: string } | undefined,
  hash: string,
  now: number,
): string {
  if (cachedModels === undefined) return 'cached just now';
  return cachedModels.hash === hash
    ? `unchanged, cached ${formatIsoAge(cachedModels.fetchedAt, now)}`
    : 'refreshed: they had changed';
}

function buildFailedChecks({ baseUrl }: Connection, error: unknown): readonly DoctorCheck[] {
  const { message, hints, exitCode } = toFailure(error);
  if (error instanceof UnauthorizedError || error instanceof PaymentRequiredError) {
    return [
      buildPassedCheck('reachability', `${baseUrl} answered`),
      buildFailedCheck('key', { message, hints, exitCode }),
      buildSkippedCheck('cache'),
    ];
  }

  const unreachedCheck = buildFailedCheck('reachability', {
    message,
    hints: error instanceof NetworkError ? [NETWORK_HINT] : hints,
    exitCode: error instanceof TimeLimitError ? EXIT.fault : exitCode,
  });
  return [unreachedCheck, buildSkippedCheck('key'), buildSkippedCheck('cache')];
}

function buildPassedCheck(
  name: DoctorCheck['name'],
  detail: string,
  hints: readonly string[] = [],
): DoctorCheck {
  return { name, ok: true, detail, hints };
}

function buildSkippedCheck(name: DoctorCheck['name']): DoctorCheck {
  return { name, ok: null, detail: 'not checked', hints: [] };
}

function buildFailedCheck(
  name: DoctorCheck['name'],
  { message, hints = [], exitCode }: Pick<Failure, 'message' | 'exitCode'> & Partial<Failure>,
): DoctorCheck {
  return { name, ok: false, detail: message, hints, exitCode };
}

/**
 * Checks models.yaml, and asks each provider of the embedded service for its models. Without a file
 * and a provider, there is nothing to check.
 */
async function checkModels(ctx: Context): Promise<readonly DoctorCheck[]> {
  const { dataDir, env, signal } = ctx;
  const { buildModelsReport } = await import('../../../models/catalogue/report-models.ts');
  const report = await buildModelsReport({ dataDir, env, signal, asksProviders: true });
  if (!report.exists && report.providers.length === 0 && report.faults.length === 0) return [];
  return [buildModelsFileCheck(report), ...report.providers.map(checkProvider)];
}

function buildModelsFileCheck({ file, exists, faults, shutdowns }: ModelsReport): DoctorCheck {
  const [firstFault, ...otherFaults] = faults;
  const shutdownWarnings = shutdowns.map(
    ({ model, date, isPast }) =>
      `${WARNING_PREFIX}${model} ${isPast ? 'was' : 'will be'} shut down on ${date}`,
  );
  if (firstFault !== undefined) {
    return buildFailedCheck('models', {
      message: firstFault,
      hints: [...otherFaults, ...shutdownWarnings],
      exitCode: EXIT.usage,
    });
  }

  if (exists) return buildPassedCheck('models', `${file} can be used`, shutdownWarnings);

  const hint = 'promptrun models discover writes the models of your endpoints to it';
  return buildPassedCheck('models', `no ${file} yet`, [hint]);
}

function checkProvider({
  name,
  baseUrl,
  missingKey,
  fault,
  models,
}: ModelsReport['providers'][number]): DoctorCheck {
  const provider = `${name} at ${baseUrl}`;
  if (missingKey !== undefined) {
    return buildFailedCheck('provider', {
      message: `${provider} has no key`,
      hints: [`Set ${missingKey}, or remove the provider from models.yaml.`],
      exitCode: EXIT.unauthorised,
    });
  }

  if (fault !== undefined) {
    return buildFailedCheck('provider', {
      message: `${provider}: ${fault}`,
      exitCode: EXIT.fault,
    });
  }

  const modelText =
    models === undefined
      ? 'is not asked, because it has no list of models'
      : `has ${pluralize(models, 'model')}`;
  return buildPassedCheck('provider', `${provider} ${modelText}`);
}
