import { isJsonList, withoutUndefined } from '../../../files/formats/json.ts';
import { type AnswerPart, findAnswerPart, toAnswerTransform } from './answer-part.ts';
import {
  type AddCriterionNote,
  type Criterion,
  type CriterionEntries,
  NO_PLACEHOLDERS,
} from './criterion.ts';
import { qualifyOpenaiModel, readMessages, type TextMessage } from './read-messages.ts';
import {
  fillReferences,
  isReference,
  type Reference,
  splitAtReferences,
} from './row-references.ts';

/** The question of a criterion that a model judges. */
interface CriterionQuestion {
  readonly messages: readonly TextMessage[];
  /** The part of the answer that the messages refer to. */
  readonly answer: AnswerPart;
  readonly model: string | undefined;
}

/** Reads a criterion whose model answers with a label. */
export function readLabelModel(
  entries: CriterionEntries,
  addNote: AddCriterionNote,
): Criterion | undefined {
  const question = readCriterionQuestion(entries, addNote);
  if (!question) return undefined;

  const labels = readLabelTexts(entries, 'labels');
  const passingLabels = readLabelTexts(entries, 'passing_labels');

  if (labels.length === 0) {
    addNote('has no `labels`: it is left out');
    return undefined;
  }

  const { messages, answer, model } = question;
  const systemMessages = messages.filter(isSystemMessage);
  const userMessages = messages.filter(message => !isSystemMessage(message));
  const systemText = joinJudgeText(systemMessages);
  const userText = joinJudgeText(userMessages);

  const instruction = `Answer with one of these labels, and nothing else: ${labels.join(', ')}`;
  const llm = withoutUndefined({
    prompt: [userText === '' ? systemText : userText, instruction].join('\n\n'),
    systemPrompt: userText !== '' && systemText !== '' ? systemText : undefined,
    model,
    // A label that is part of another comes after it: the first that the answer contains decides.
    choices: labels
      .toSorted((a, b) => b.length - a.length)
      .map(label => ({ choice: label, score: passingLabels.includes(label) ? 1 : 0 })),
  });

  return {
    placeholders: collectPlaceholders(messages),
    buildExpectation: () => ({ llm, ...toAnswerTransform(answer) }),
  };
}

/** Reads a criterion whose model gives a score. */
export function readScoreModel(
  entries: CriterionEntries,
  addNote: AddCriterionNote,
): Criterion | undefined {
  const question = readCriterionQuestion(entries, addNote);
  if (!question) return undefined;

  const range = entries.get('range')?.toJson();
  const [lowest, highest] = isJsonList(range) ? range : [0, 1];
  if (typeof lowest !== 'number' || typeof highest !== 'number' || lowest >= highest) {
    addNote('has a `range` that is not two numbers: it is left out');
    return undefined;
  }

  const passThreshold = entries.get('pass_threshold')?.toJson();
  if (typeof passThreshold !== 'number') {
    addNote('has no `pass_threshold`: half of its range is used');
  }
  if (entries.has('sampling_params')) addNote('has `sampling_params`, which have no equivalent');

  const { messages, answer, model } = question;
  const passingScore = typeof passThreshold === 'number' ? passThreshold : (lowest + highest) / 2;
  const threshold = Math.min(1, Math.max(0, (passingScore - lowest) / (highest - lowest)));

  return {
    placeholders: NO_PLACEHOLDERS,
    buildExpectation: row => {
      const instructions = messages
        .map(({ text }) => fillReferences(splitAtReferences(text), row, '(the answer)'))
        .join('\n\n');
      return {
        rubric: `scores at least ${passingScore}, from ${lowest} to ${highest}, by these instructions (${lowest} is the score 0, ${highest} is 1):\n\n${instructions}`,
        threshold,
        ...(model !== undefined && { judge: model }),
        ...toAnswerTransform(answer),
      };
    },
  };
}

/**
 * Reads the question of a criterion. Adds a note and returns undefined unless its messages refer to
 * one part of the answer.
 */
function readCriterionQuestion(
  entries: CriterionEntries,
  addNote: AddCriterionNote,
): CriterionQuestion | undefined {
  const node = entries.get('input');
  const messages = node ? (readMessages(node.toJson(), node) ?? []) : [];
  const answer = findAnswerPart(
    messages.flatMap(({ text }) => splitAtReferences(text)),
    addNote,
  );
  const model = entries.get('model')?.scalar;

  return (
    answer && {
      messages,
      answer,
      model: model === undefined ? undefined : qualifyOpenaiModel(model),
    }
  );
}

function readLabelTexts(entries: CriterionEntries, key: string): string[] {
  return (entries.get(key)?.readItems(key) ?? []).map(label => label.readText(key));
}

function isSystemMessage({ role }: TextMessage): boolean {
  return role === 'system' || role === 'developer';
}

/** Joins messages, with a placeholder for each reference. */
function joinJudgeText(messages: readonly TextMessage[]): string {
  const texts = messages.map(({ text }) =>
    splitAtReferences(text)
      .map(part => ('text' in part ? part.text : `{{${getPlaceholderName(part)}}}`))
      .join(''),
  );
  return texts.join('\n\n');
}

/** Returns the name of the placeholder of a reference: `completion` is the whole answer. */
function getPlaceholderName({ source, path }: Reference): string {
  if (source === 'sample') return 'completion';
  const field = path.join('.');
  return field === 'completion' ? 'item.completion' : field;
}

/** Returns the fields of the row that messages refer to, by the names of their placeholders. */
function collectPlaceholders(messages: readonly TextMessage[]): Criterion['placeholders'] {
  const references = messages
    .flatMap(({ text }) => splitAtReferences(text))
    .filter(part => isReference(part, 'item'));
  return new Map(references.map(reference => [getPlaceholderName(reference), reference.path]));
}
