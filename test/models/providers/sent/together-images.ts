// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { TogetherImage, SentRequests } from '../wire-types.ts';

export default {
  "black-forest-labs/FLUX.1-schnell: a picture": {
    url: "https://api.together.xyz/v1/images/generations",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-together",
      "content-type": "application/json",
    },
    body: {
      model: "black-forest-labs/FLUX.1-schnell",
      prompt: "A house",
      width: 1536,
      height: 1024,
      response_format: "base64",
    },
    warnings: [],
  },
  "black-forest-labs/FLUX.1-schnell: a picture that is changed": {
    url: "https://api.together.xyz/v1/images/generations",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-together",
      "content-type": "application/json",
    },
    body: {
      model: "black-forest-labs/FLUX.1-schnell",
      prompt: "Brighter: ",
      image_url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
      response_format: "base64",
    },
    warnings: [],
  },
} satisfies SentRequests<TogetherImage>;
