import type { UnaryHandler } from "../../src/grpc/unary";
import { createServiceHost } from "../../src/serving/service-host";
import { recordLog } from "../support/recorded-log";

const none = () => ({
  metadata: { get: () => [] },
  peerGone: new AbortController().signal,
  sendMetadata: () => {},
});

/** A host that keeps what is served; and its log. */
export function openHost() {
  const served = new Map<string, UnaryHandler>();
  const log = recordLog();
  const host = createServiceHost(
    {
      addService: (_, handlers) => {
        for (const [name, handle] of Object.entries(handlers)) served.set(name, handle);
      },
    },
    log.logger,
  );
  return { host, log, call: async (name: string) => served.get(name)?.({}, none()) };
}
