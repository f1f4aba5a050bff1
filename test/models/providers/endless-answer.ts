import type { ProviderHandler } from '../../support/providers/fake-provider.ts';

/** An answer that is sent on and on, until its reader hangs up or `maxBytes` are sent. */
export class EndlessAnswer {
  /** How much was sent; what the reader did not read may still wait in the buffers of the system. */
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
