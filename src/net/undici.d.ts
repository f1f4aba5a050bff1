// The few modules of undici that are loaded: loading all of it takes three times as long.

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}

declare module 'undici/lib/dispatcher/proxy-agent.js' {
  export { ProxyAgent as default } from 'undici';
}

declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}

declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { buildConnector } from 'undici';

  /** Makes a function that opens connections and returns the socket at once. */
  export default function connector(
    options: buildConnector.BuildOptions,
  ): (target: buildConnector.Options, callback: buildConnector.Callback) => Socket;
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
      readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
    },
  ): Promise<Dispatcher.ResponseData>;
}
