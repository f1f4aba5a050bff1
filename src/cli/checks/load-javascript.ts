import { setFlagsFromString } from 'node:v8';
import variant from '@jitl/quickjs-singlefile-cjs-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core';
import { type JsonValue, readJson } from '../../files/formats/json.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { addEngineGlobals } from './engine-globals.ts';
import { toFunctionBody } from './javascript-body.ts';

/** Code of a test that checks or transforms an answer. */
export interface JavaScript {
  readonly code: string;
  /**
   * True if the code is a file that exports a function; else it is an expression, or lines that
   * return.
   */
  readonly isFile: boolean;
  /** The name of the exported function; default: the only export. */
  readonly exportName?: string;
  /** The absolute path of the file, if only Node can run it. */
  readonly file?: string;
  /** The value that the code sees as `context.config`. */
  readonly config?: JsonValue;
}

/** The arguments of the code. */
export interface JavaScriptInput {
  readonly output: JsonValue;
  readonly context: {
    readonly vars: Readonly<Record<string, JsonValue>>;
    readonly prompt: string | null;
    readonly test: JsonValue;
    readonly config?: JsonValue;
    /** The whole result of a provider of promptfoo, and its metadata. */
    readonly providerResponse?: JsonValue;
    readonly metadata?: JsonValue;
  };
}

/** The result of code; `value` is undefined if it is not representable in JSON. */
export type JavaScriptResult =
  | { readonly value: JsonValue | undefined }
  | { readonly fault: string };

type ScriptFault = Extract<JavaScriptResult, { readonly fault: string }>;

const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const MAX_STACK_BYTES = 128 * 1024;

/** Matches the `export` of a module. */
const EXPORT_STATEMENT = /^[ \t]*export\b/mu;

/** Loads an engine without files, network, processes or any clock but `Date`. */
export async function loadJavaScript(): Promise<
  (script: JavaScript, input: JavaScriptInput) => JavaScriptResult
> {
  // V8 would spend a tenth of a second optimising the engine for code that runs for a millisecond.
  setFlagsFromString('--wasm-tiering-budget=50000000');
  const engine = await newQuickJSWASMModuleFromVariant(
    variant as unknown as typeof variant.default,
  );
  return (script, input) => {
    try {
      return runInContext(engine.newRuntime(), script, input);
    } catch {
      // The engine failed in its own code and can't be used again. LimitExceededError ends its process.
      throw new LimitExceededError('the JavaScript takes more than its engine can hold');
    }
  };
}

function runInContext(
  runtime: QuickJSRuntime,
  script: JavaScript,
  input: JavaScriptInput,
): JavaScriptResult {
  runtime.setMemoryLimit(MAX_MEMORY_BYTES);
  runtime.setMaxStackSize(MAX_STACK_BYTES);

  const context = runtime.newContext();
  try {
    return runScript(context, script, input);
  } finally {
    context.dispose();
    runtime.dispose();
  }
}

function runScript(
  vm: QuickJSContext,
  script: JavaScript,
  input: JavaScriptInput,
): JavaScriptResult {
  const inputText = vm.newString(JSON.stringify(input));
  vm.setProp(vm.global, '__input', inputText);
  inputText.dispose();
  const setUpResult = vm.evalCode(
    `__input = JSON.parse(__input);(${addEngineGlobals.toString()})()`,
  );
  if (setUpResult.error) return readScriptFault(vm, setUpResult.error);

  setUpResult.value.dispose();
  const callable = script.isFile ? loadExportedFunction(vm, script) : compileCode(vm, script.code);
  if ('fault' in callable) return callable;

  vm.setProp(vm.global, '__script', callable.handle);
  callable.handle.dispose();
  const result = vm.evalCode('__script(__input.output, __input.context)');
  if (result.error) return readScriptFault(vm, result.error);

  return settleResult(vm, result.value);
}

/** A function in the engine, or why there is none. */
type Callable = { readonly handle: QuickJSHandle } | ScriptFault;

function compileCode(vm: QuickJSContext, code: string): Callable {
  const codeResult = vm.evalCode(
    `(function (output, context) {\n${toFunctionBody(code)}\n})`,
    'javascript',
  );
  return codeResult.error ? readScriptFault(vm, codeResult.error) : { handle: codeResult.value };
}

function loadExportedFunction(vm: QuickJSContext, { code, exportName }: JavaScript): Callable {
  const isModule = EXPORT_STATEMENT.test(code);
  const source = isModule
    ? code
    : `(function (module, exports) {\n${code}\nreturn module.exports; })`;
  const moduleResult = vm.evalCode(source, 'check.js', isModule ? { type: 'module' } : {});
  if (moduleResult.error) return readScriptFault(vm, moduleResult.error);

  vm.setProp(vm.global, '__loaded', moduleResult.value);
  moduleResult.value.dispose();
  const moduleExports = isModule ? '__loaded' : '(m => __loaded(m, m.exports))({ exports: {} })';
  const key = JSON.stringify(exportName);
  const exportedValue = exportName === undefined ? 'e' : `(e[${key}] ?? e.default?.[${key}])`;
  const result = vm.evalCode(
    `(e => { const f = ${exportedValue}; return typeof f === 'function' ? f : f?.default; })(${moduleExports})`,
  );
  if (result.error) return readScriptFault(vm, result.error);
  if (vm.typeof(result.value) === 'function') return { handle: result.value };

  result.value.dispose();
  return { fault: `it exports no function${exportName === undefined ? '' : ` ${exportName}`}` };
}

/** Returns the value of a result, after its promise has settled. */
function settleResult(vm: QuickJSContext, result: QuickJSHandle): JavaScriptResult {
  const jobsResult = vm.runtime.executePendingJobs();
  if (jobsResult.error) return readScriptFault(vm, jobsResult.error);

  jobsResult.dispose();
  const state = vm.getPromiseState(result);
  if (state.type === 'pending') {
    result.dispose();
    return { fault: 'its promise never settles' };
  }

  if (state.type === 'rejected') {
    result.dispose();
    return readScriptFault(vm, state.error);
  }

  const value = takeValue(vm, state.value);
  if (state.notAPromise !== true) result.dispose();
  return value;
}

/** Takes a value out of the engine, which then no longer holds it. */
function takeValue(vm: QuickJSContext, handle: QuickJSHandle): JavaScriptResult {
  // JSON has no infinite numbers, and no NaN.
  const number = vm.typeof(handle) === 'number' ? vm.getNumber(handle) : undefined;
  vm.setProp(vm.global, '__result', handle);
  handle.dispose();
  if (number !== undefined) return { value: number };

  const jsonResult = vm.evalCode('JSON.stringify(__result)');
  if (jsonResult.error) return readScriptFault(vm, jsonResult.error);

  const { value: jsonHandle } = jsonResult;
  const json = vm.typeof(jsonHandle) === 'string' ? vm.getString(jsonHandle) : undefined;
  jsonHandle.dispose();
  if (json === undefined) return { value: undefined };

  const parsed = readJson(json);
  return 'value' in parsed ? parsed : { fault: `its result ${parsed.fault}` };
}

function readScriptFault(vm: QuickJSContext, error: QuickJSHandle): ScriptFault {
  const thrown: unknown = vm.dump(error);
  error.dispose();
  if (typeof thrown !== 'object' || thrown === null) return { fault: String(thrown) };
  const { name = 'Error', message = '' } = thrown as { name?: unknown; message?: unknown };
  return { fault: `${String(name)}: ${String(message)}` };
}
