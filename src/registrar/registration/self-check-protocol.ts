/** Request metadata by which whoever calls GetInfo on a registration socket says that it is not kubelet. */
export const SELF_CHECK_KEY = "x-registrar-self-check";
/** Response metadata of such a call: the state of the registration, and, URI-encoded, the endpoint that kubelet is told. */
export const STATE_KEY = "x-registrar-state";
export const ENDPOINT_KEY = "x-registrar-endpoint";
/** Since when, in milliseconds since the epoch, and, URI-encoded, why the registration is in that state. */
export const SINCE_KEY = "x-registrar-since";
export const REASON_KEY = "x-registrar-reason";
