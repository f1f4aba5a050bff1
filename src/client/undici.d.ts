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

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  /** Sends the request through the dispatcher it is called on. */
  function request(
    this: Pick<Dispatcher, 'dispatch'>,
    options: Omit<Dispatcher.RequestOptions, 'origin'> & { origin: string },
  ): Promise<Dispatcher.ResponseData>;
  export default request;
}
