import { countOf, isObject, listOf, own, scalarText, textUnder } from '../../core/json-value.ts';
import { type TextField, textField } from './fields.ts';

/** The `type` of a variable that is chosen from a list; 0 is a text. */
const SELECT = 2;

/** Keys that only distinguish variables, so that the name is inside. */
const IDENTIFIER = /^(\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** Whether these are variables by name, and not a text input that happens to be called `variables`. */
export function isVariables(value: unknown): boolean {
  return Array.isArray(value) || (isObject(value) && Object.values(value).every(isObject));
}

/** Shape (c): `{topic: {type, description, defaultValues, allowEmpty, options, multiple}}`, or a list with names. */
export function describeVariables(variables: unknown): readonly TextField[] {
  if (isObject(variables)) {
    return Object.entries(variables).map(([key, said]) => describeVariable(nameOf(key, said), said));
  }
  return listOf(variables).flatMap(said => {
    const name = textUnder(said, 'name', 'key', 'id');
    return name === undefined ? [] : [describeVariable(name, said)];
  });
}

function nameOf(key: string, said: unknown): string {
  return IDENTIFIER.test(key) ? (textUnder(said, 'name', 'key') ?? key) : key;
}

function describeVariable(key: string, said: unknown): TextField {
  const choices = own(said, 'type') === SELECT ? choicesOf(own(said, 'options')) : undefined;
  const multiple = choices === undefined ? undefined : multipleOf(own(said, 'multiple'));
  return textField(key, {
    description: textUnder(said, 'description', 'label', 'title'),
    required: own(said, 'allowEmpty') !== true,
    default: defaultOf(own(said, 'defaultValues'), multiple !== undefined),
    choices,
    multiple,
  });
}

function choicesOf(options: unknown): readonly string[] {
  const listed = isObject(options) ? Object.values(options) : listOf(options);
  return listed
    .map(option => scalarText(option) ?? textUnder(option, 'value', 'name', 'label'))
    .filter(text => text !== undefined);
}

function multipleOf(said: unknown): TextField['multiple'] {
  if (!isObject(said)) {
    return said === true ? {} : undefined;
  }
  const min = countOf(own(said, 'min'));
  const max = countOf(own(said, 'max'));
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

/** A list of nothing but empty texts is a form left blank, not a default. */
function defaultOf(values: unknown, several: boolean): string | undefined {
  const texts = (Array.isArray(values) ? listOf(values) : [values])
    .map(scalarText)
    .filter(text => text !== undefined && text !== '');
  return several && texts.length > 0 ? texts.join(', ') : texts[0];
}
