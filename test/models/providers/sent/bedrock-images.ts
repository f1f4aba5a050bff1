// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { NovaCanvas, SentRequests } from '../wire-types.ts';

export default {
  "amazon.nova-canvas-v1:0: a picture": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-canvas-v1%3A0/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      taskType: "TEXT_IMAGE",
      textToImageParams: { text: "A house" },
      imageGenerationConfig: { width: 1536, height: 1024, numberOfImages: 1 },
    },
    warnings: [],
  },
  "amazon.nova-canvas-v1:0: a picture that is changed": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-canvas-v1%3A0/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      taskType: "IMAGE_VARIATION",
      imageVariationParams: {
        images: ["iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="],
        text: "Brighter: ",
      },
      imageGenerationConfig: { numberOfImages: 1 },
    },
    warnings: [],
  },
} satisfies SentRequests<NovaCanvas>;
