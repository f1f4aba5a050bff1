import type { ProviderHandler } from '../../support/providers/fake-provider.ts';

/** An answer that is sent on and on, until its reader hangs up or `maxBytes` are sent. */
export class EndlessAnswer {
  /** The bytes sent, of which the buffers of the system may hold some that nobody reads. */
  sentBytes = 0;

  constructor(
    private readonly contentType: string,
    private readonly chunk: Buffer,
    private readonly maxBytes: number,
  ) {}

  readonly handler: ProviderHandler = response => {
    response.writeHead(200, { 'content-type': this.contentType });
    const sendNext = (error?: Error | null): void => {
      if (error || response.destroyed || this.sentBytes >= this.maxBytes) return;
      this.sentBytes += this.chunk.length;
      response.write(this.chunk, sendNext);
    };
    sendNext();
  };
}
