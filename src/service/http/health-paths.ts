/** The path at which a supervisor asks if the process is alive. */
export const LIVENESS_PATH = '/healthz';

/** The path at which a load balancer asks if the service takes requests. */
export const READINESS_PATH = '/readyz';
