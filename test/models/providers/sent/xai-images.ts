// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { XaiImage, SentRequests } from '../wire-types.ts';

export default {
  "grok-imagine-image: a picture": {
    url: "https://api.x.ai/v1/images/generations",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-imagine-image",
      prompt: "A house",
      n: 1,
      response_format: "b64_json",
      aspect_ratio: "16:9",
    },
    warnings: [],
  },
  "grok-imagine-image: a picture that is changed": {
    url: "https://api.x.ai/v1/images/edits",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-imagine-image",
      prompt: "Brighter: ",
      n: 1,
      response_format: "b64_json",
      image: {
        url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
        type: "image_url",
      },
    },
    warnings: [],
  },
} satisfies SentRequests<XaiImage>;
