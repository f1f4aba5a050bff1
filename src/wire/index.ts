export * from './envelope.ts';
export * from './labels.ts';
export * from './limits.ts';
export * from './prompt.ts';
export * from './run.ts';
export * from './service.ts';
export * from './traceparent.ts';
