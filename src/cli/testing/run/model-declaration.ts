import { findOwnValue, isJsonList } from '../../../files/formats/json.ts';
import { parseYaml } from '../../../files/formats/yaml.ts';
import type { Context } from '../../context.ts';
import { findVersionDefinition } from '../../targets/prompt-definition.ts';

/**
 * Returns the entry of a version's model in the configurations that declare models, as JSON;
 * undefined if none does.
 */
export async function findModelDeclaration(
  ctx: Context,
  promptVersionId: string,
): Promise<string | undefined> {
  if (ctx.declaredModels.length === 0) return undefined;

  const model = (await findVersionDefinition(ctx, promptVersionId))?.model;
  if (model === undefined) return undefined;

  const [provider = ''] = model.split('/', 1);
  const entries = ctx.declaredModels.flatMap(({ text }) => {
    const configuration = parseYaml(text).toJson();
    const models = findOwnValue(configuration, 'models');
    const entry = isJsonList(models)
      ? models.find(item => findOwnValue(item, 'model') === model)
      : undefined;
    return entry ?? findOwnValue(findOwnValue(configuration, 'providers'), provider) ?? [];
  });
  return entries.length === 0 ? undefined : JSON.stringify(entries);
}
