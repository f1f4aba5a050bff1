// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { FireworksImage, SentRequests } from '../wire-types.ts';

export default {
  "accounts/fireworks/models/flux-1-schnell-fp8: a picture": {
    url: "https://api.fireworks.ai/inference/v1/workflows/accounts/fireworks/models/flux-1-schnell-fp8/text_to_image",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: { prompt: "A house", aspect_ratio: "16:9", samples: 1 },
    warnings: [],
  },
  "accounts/fireworks/models/flux-kontext-pro: a picture": {
    url: "https://api.fireworks.ai/inference/v1/workflows/accounts/fireworks/models/flux-kontext-pro",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: { prompt: "A house", aspect_ratio: "16:9", samples: 1 },
    warnings: [],
  },
  "accounts/fireworks/models/flux-kontext-pro: a picture that is changed": {
    url: "https://api.fireworks.ai/inference/v1/workflows/accounts/fireworks/models/flux-kontext-pro",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: {
      prompt: "Brighter: ",
      samples: 1,
      input_image: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
    },
    warnings: [],
  },
} satisfies SentRequests<FireworksImage>;
