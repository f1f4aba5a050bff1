import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { findSuppliedInputFault, NO_VALIDATE_HINTS } from '../../inputs/check-inputs.ts';
import { checkOptions, parseOptions } from '../../inputs/flag-values.ts';
import {
  createImageOpener,
  type ImageSource,
  openImage,
} from '../../inputs/images/image-source.ts';
import { openImages, placeImages } from '../../inputs/images/place-images.ts';
import { readInputFields } from '../../inputs/read-input-fields.ts';
import type { RunRequest } from '../../inputs/request-body.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { readVersion, resolveTarget } from '../../targets/resolve-target.ts';
import type { KeptImage, RequestOfRun } from './request-of-run.ts';
import type { RUNS_RERUN } from './spec.ts';

/** The flags that change a request. */
type ChangeFlags = Pick<
  FlagsOf<typeof RUNS_RERUN.flags>,
  'input' | 'image' | 'option' | 'model' | 'otherImages' | 'validate'
>;

/**
 * Returns the request of a run with the changes of the flags.
 *
 * @throws {CliError} if they don't fit the prompt
 */
export async function buildChangedRequest(
  ctx: Context,
  connection: Connection,
  originalRequest: RequestOfRun,
  flags: ChangeFlags,
): Promise<RunRequest> {
  const suppliedInputs = await collectInputs(ctx, { inputs: flags.input, images: flags.image });
  const images = await openImages(createImageOpener(ctx), suppliedInputs.images);
  const options = parseOptions(flags.option);
  const target = originalRequest.promptVersionId;
  const { promptVersionId } = await resolveTarget(ctx, connection, target, {
    source: 'elsewhere',
    model: flags.model,
  });
  if (flags.validate) {
    const bypassHints = NO_VALIDATE_HINTS;
    await checkOptions(ctx, connection, { promptVersionId, options, bypassHints });
  }

  const hasNamedImages = images.some(({ name }) => name !== undefined);
  const checksTextInputs = flags.validate && suppliedInputs.text.size > 0 && !ctx.isReplay;
  const config =
    hasNamedImages || checksTextInputs
      ? (await readVersion(ctx, connection, { promptVersionId, mayBePrompt: false })).config
      : {};
  const fields = readInputFields(config);
  const placedInputs = placeImages(fields, { text: suppliedInputs.text, images });
  const fault = checksTextInputs
    ? findSuppliedInputFault(fields, { text: suppliedInputs.text, images: [] })
    : undefined;
  if (fault !== undefined) throw fault;

  return {
    promptVersionId,
    text: new Map([...originalRequest.text, ...suppliedInputs.text]),
    images: await pickRerunImages(ctx, originalRequest, placedInputs.images, flags),
    options: new Map([...originalRequest.options, ...options]),
  };
}

/**
 * Returns the images for the new run.
 *
 * @throws {CliError} exit 2 if one is missing, or differs from the run's
 */
async function pickRerunImages(
  ctx: Context,
  { images: keptImages, runId }: RequestOfRun,
  suppliedImages: readonly (ImageSource | undefined)[],
  { otherImages = false }: ChangeFlags,
): Promise<ImageSource[]> {
  const missingNames = keptImages.flatMap((image, index) =>
    suppliedImages[index] || 'image' in image ? [] : [image.name],
  );
  if (missingNames.length > 0) {
    throw usageError(
      `the images of run ${runId} must be given again: ${missingNames.join(', ')}`,
      'Give each with --image, in order.',
    );
  }

  const images: ImageSource[] = [];
  const imageCount = Math.max(keptImages.length, suppliedImages.length);
  for (let index = 0; index < imageCount; index += 1) {
    const keptImage = keptImages[index];
    const suppliedImage = suppliedImages[index];
    if (suppliedImage !== undefined) {
      if (keptImage !== undefined && !otherImages) {
        requireSameImage(suppliedImage, keptImage, runId);
      }
      images.push(suppliedImage);
    } else if (keptImage !== undefined && 'image' in keptImage) {
      images.push(await openImage(ctx, keptImage.image));
    }
  }

  return images;
}

/** Refuses an image that differs from the one of the run. @throws {CliError} USAGE_ERROR */
function requireSameImage(image: ImageSource, keptImage: KeptImage, runId: string): void {
  if (!('sha256' in keptImage) || ('sha256' in image && image.sha256 === keptImage.sha256)) return;
  throw usageError(
    `image ${image.name} differs from the one of run ${runId}${keptImage.name === '' ? '' : ` (${keptImage.name})`}`,
    'To run it with other images, add --other-images.',
  );
}
