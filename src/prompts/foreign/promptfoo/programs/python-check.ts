import { PYTHON_MODULE } from './python-module.ts';

/**
 * Checks an answer as the assertion `python` does: by an expression, by the lines of a function,
 * or by a file's function. Exits with 1 if the answer fails.
 */
export const PYTHON_CHECK = `${PYTHON_MODULE}

kind, code, name, about = sys.argv[1:5]
about = json.loads(about)
given = json.loads(sys.stdin.read())
output, context = given['output'], {**given['context'], **about['context']}
if kind == 'file':
    result = call(function_of(load(code), name or 'get_assert'), output, context)
else:
    scope = {}
    lines = code.split('\\n')
    indent = next((line[:len(line) - len(line.lstrip())] for line in lines if line.strip() and line != line.lstrip()), '    ')
    body = '\\n'.join(indent + line for line in lines) if len(lines) > 1 else '    return ' + code
    exec('import json\\n\\ndef main(output, context):\\n' + body, scope)
    result = call(scope['main'], output, context)
reason = None
if isinstance(result, str) and result.lower() in ('true', 'false'):
    result = result.lower() == 'true'
if isinstance(result, str) and result.startswith('{'):
    result = json.loads(result)
if isinstance(result, dict):
    passed, score, reason = result.get('pass', result.get('pass_')), result.get('score'), result.get('reason')
    if not isinstance(passed, bool) or not isinstance(score, (int, float)) or not isinstance(reason, str):
        sys.exit('it must return a boolean, a number, or {pass, score, reason}, not ' + json.dumps(result, default=str))
    threshold = about.get('threshold')
    if threshold is not None and score < threshold:
        passed = False
elif isinstance(result, bool):
    passed = result
else:
    score = float(result)
    passed = score > 0 if about.get('threshold') is None else score >= about['threshold']
if bool(passed) == about['inverse']:
    out.write(str(reason or 'it returns ' + json.dumps(result)))
    out.flush()
    sys.exit(1)`;
