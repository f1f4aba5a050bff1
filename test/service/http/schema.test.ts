import { describe, expect, it } from 'vitest';
import { anything, enumeration, orNull, text } from '../../../src/service/http/schema.ts';
import { findValueFault } from '../../../src/service/http/value-fault.ts';

describe('orNull', () => {
  it('admits null besides the values of a type', () => {
    expect(findValueFault(orNull(text()), null, 'name')).toBeUndefined();
    expect(findValueFault(orNull(text()), 'Ada', 'name')).toBeUndefined();
    expect(findValueFault(orNull(text()), 1, 'name')).toBe('name must be a string or a null');
  });

  it('admits null besides the values of a list', () => {
    const schema = orNull(enumeration(['true', 'false']));

    expect(findValueFault(schema, null, 'times')).toBeUndefined();
    expect(findValueFault(schema, 'true', 'times')).toBeUndefined();
    expect(findValueFault(schema, 'yes', 'times')).toBe('times must be one of true, false, null');
  });

  it('leaves a schema that admits anything as it is', () => {
    expect(findValueFault(orNull(anything), 1)).toBeUndefined();
  });
});
