// The few modules of undici that are loaded: the whole of it takes three times as long to start.

declare module 'undici/lib/dispatcher/agent.js' {
  import type { Agent } from 'undici';

  const constructor: typeof Agent;
  export default constructor;
}

declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import type { EnvHttpProxyAgent } from 'undici';

  const constructor: typeof EnvHttpProxyAgent;
  export default constructor;
}

declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool } from 'undici';

  const constructor: typeof Pool;
  export default constructor;
}

declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  interface Options extends Dispatcher.ConnectOptions {
    readonly headersTimeout: number;
  }

  /** Asks the proxy behind the dispatcher it is called on for a tunnel. */
  function connect(this: Pick<Dispatcher, 'dispatch'>, options: Options): Promise<Dispatcher.ConnectData>;
  export default connect;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  interface Options {
    readonly origin: string;
    readonly path: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    /** An iterable needs a `content-length` among the headers, or it is sent in chunks. */
    readonly body: string | AsyncIterable<Uint8Array> | undefined;
    readonly headersTimeout: number;
    readonly bodyTimeout: number;
    readonly signal: AbortSignal | undefined;
    /** Called with each informational answer (1xx). */
    readonly onInfo: () => void;
  }

  /** Sends the request through the dispatcher it is called on. */
  function request(this: Pick<Dispatcher, 'dispatch'>, options: Options): Promise<Dispatcher.ResponseData>;
  export default request;
}
