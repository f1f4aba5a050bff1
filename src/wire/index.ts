export * from './account.ts';
export * from './envelope.ts';
export * from './headers.ts';
export * from './limits.ts';
export * from './prompt.ts';
export * from './resource.ts';
export * from './run.ts';
export * from './uuid.ts';
