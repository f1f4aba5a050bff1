// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenRouterImage, SentRequests } from '../wire-types.ts';

export default {
  "google/gemini-2.5-flash-image: a picture": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "google/gemini-2.5-flash-image",
      messages: [{ role: "user", content: "A house" }],
      modalities: ["image", "text"],
      image_config: { aspect_ratio: "16:9" },
    },
    warnings: [],
  },
  "google/gemini-2.5-flash-image: a picture that is changed": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "google/gemini-2.5-flash-image",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Brighter: " },
            {
              type: "image_url",
              image_url: {
                url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
          ],
        },
      ],
      modalities: ["image", "text"],
    },
    warnings: [],
  },
} satisfies SentRequests<OpenRouterImage>;
