// The few modules of undici that are loaded: the whole of it takes three times as long to start.

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}

declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  export { EnvHttpProxyAgent as default } from 'undici';
}

declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}

declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  /** Asks the proxy behind the dispatcher it is called on for a tunnel. */
  export default function connect(
    this: Pick<Dispatcher, 'dispatch'>,
    options: Dispatcher.ConnectOptions & { readonly headersTimeout: number },
  ): Promise<Dispatcher.ConnectData>;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  /** Sends the request through the dispatcher it is called on. */
  export default function request(
    this: Pick<Dispatcher, 'dispatch'>,
    options: Omit<Dispatcher.RequestOptions, 'body'> & {
      /** An iterable needs a `content-length` among the headers, or it is sent in chunks. */
      readonly body: string | AsyncIterable<Uint8Array> | undefined;
    },
  ): Promise<Dispatcher.ResponseData>;
}
