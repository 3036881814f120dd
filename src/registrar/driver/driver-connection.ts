import { connectivityState, status } from "@grpc/grpc-js";
import { messageOf } from "../../base/errors";
import { callUnary, createUnixClient } from "../../grpc/client/unary";
import { identityMethods } from "../../grpc/methods";
import { statusCodeOf } from "../../grpc/status";
import type { Logger } from "../../logging/logger";
import type { DriverCall } from "../model/events";

interface ConnectionContext {
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onCall: (call: DriverCall) => void;
}

export function connectDriver(socketPath: string, { log: parentLog, signal, onCall }: ConnectionContext) {
  const log = parentLog.named("driver-connection");
  const client = createUnixClient(socketPath);
  const method = identityMethods.GetPluginInfo;

  /** One GetPluginInfo call. Rejects with an error that `statusCodeOf` understands. */
  const ask = async (timeoutMs: number) => {
    const startedAtMs = performance.now();
    const record = (code: number | undefined) =>
      onCall({ method: method.path, code, durationMs: performance.now() - startedAtMs });
    log.v(1).info("Calling CSI driver to discover driver name");
    log.v(5).info("GRPC call", { method: method.path, request: "{}" });
    try {
      const identity = await callUnary(client, method, {}, { timeoutMs, signal });
      record(status.OK);
      const { manifest, name, vendorVersion } = identity;
      // As the official registrar logs it: JSON with the protocol's names of the fields that are not empty.
      const fields = Object.entries({ manifest, name, vendor_version: vendorVersion }).filter(
        ([, value]) => Object.keys(value).length > 0,
      );
      const response = JSON.stringify(Object.fromEntries(fields));
      log.v(5).info("GRPC response", { response, err: undefined });
      return identity;
    } catch (error) {
      if (!signal.aborted) record(statusCodeOf(error));
      log.v(5).info("GRPC response", { response: "{}", err: messageOf(error) });
      throw error;
    }
  };

  /** Resolves when the connection has ended, also by its disposal. */
  const ended = () => {
    const channel = client.getChannel();
    const { READY } = connectivityState;
    return new Promise<void>((resolve) => {
      if (channel.getConnectivityState(false) !== READY) resolve();
      else channel.watchConnectivityState(READY, Number.POSITIVE_INFINITY, () => resolve());
    });
  };

  return { ask, ended, [Symbol.dispose]: () => client.close() };
}
