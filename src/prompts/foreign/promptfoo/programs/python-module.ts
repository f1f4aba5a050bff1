/**
 * Programs that call foreign code like promptfoo. They are words of a command line, so that written
 * files work without this package.
 */

/**
 * Reads a module from a file, with its folder first in the path; redirects its output to standard
 * error.
 */
export const PYTHON_MODULE = `
import asyncio, importlib.util, inspect, json, os, re, sys
out = sys.stdout
sys.stdout = sys.stderr

def load(file):
    file = os.path.abspath(file)
    if sys.path[0] != os.path.dirname(file):
        sys.path.insert(0, os.path.dirname(file))
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(file))[0], file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def call(function, *args):
    result = function(*args)
    return asyncio.run(result) if inspect.isawaitable(result) else result

def function_of(module, name):
    value = module
    for part in name.split('.'):
        value = getattr(value, part)
    return value
`.trim();
