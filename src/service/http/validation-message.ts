import type { FastifySchemaValidationError } from 'fastify';

/** One line that names the field and the rule it breaks. */
export function validationMessage(errors: readonly FastifySchemaValidationError[]): string {
  const [error] = errors;
  if (!error) return 'the request is not valid';
  const field = fieldName(error.instancePath);
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return `${join(field, String(params['missingProperty']))} is required`;
    case 'type':
      return `${field || 'the body'} must be ${article(String(params['type']))}`;
    case 'enum':
      return `${field} must be one of ${list(params['allowedValues'])}`;
    case 'discriminator':
      return `${join(field, String(params['tag']))} must be one of url, base64`;
    case 'pattern':
      return `${field} must be a UUID`;
    case 'minimum':
      return `${field} must be at least ${String(params['limit'])}`;
    case 'maximum':
      return `${field} must be at most ${String(params['limit'])}`;
    default:
      return `${field || 'the request'} ${error.message ?? 'is not valid'}`;
  }
}

/** `/inputs/imageInputs/0/type` as `inputs.imageInputs[0].type`. */
function fieldName(pointer: string): string {
  const steps = pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce(join, '');
}

function join(path: string, step: string): string {
  if (/^\d+$/.test(step)) return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function list(values: unknown): string {
  return Array.isArray(values) ? values.join(', ') : String(values);
}
