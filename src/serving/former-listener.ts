import { status } from "@grpc/grpc-js";
import { systemError } from "../base/errors";
import { callUnary, createUnixClient, type UnaryCallOptions } from "../grpc/client/unary";
import { identityMethods } from "../grpc/methods";
import type { GetPluginInfoResponse } from "../grpc/protos";
import { statusCodeOf } from "../grpc/status";
import { type Logger, UNHEARD } from "../logging/logger";
import { socketUnusable } from "../unix/socket-unusable";
import { judgeSocket } from "../unix/unix-socket";

/** A driver that works answers at once; one that hangs must not keep its successor waiting. */
const FORMER_WITHIN_MS = 2_000;

const STRANGER =
  "The driver's socket is taken from a process that may not be a former instance of the driver";
const HINT = "is csiAddress the driver's own path? What listened there is not reached any more";
const NO_DRIVER = "a gRPC server without GetPluginInfo listens there, so no CSI driver: is csiAddress right?";

export async function askPluginInfo(
  csiAddress: string,
  bounds: UnaryCallOptions,
): Promise<GetPluginInfoResponse> {
  const client = createUnixClient(csiAddress);
  try {
    return await callUnary(client, identityMethods.GetPluginInfo, {}, bounds);
  } finally {
    client.close();
  }
}

/**
 * Asks who listens at `csiAddress`, before the driver takes it from a former instance of itself, which may hang. Warns where nothing
 * says so; resolves with a function that warns if its name is another. Rejects with SOCKET_UNUSABLE if it cannot be a CSI driver.
 */
export async function askFormerListener(csiAddress: string, log: Logger, signal: AbortSignal | undefined) {
  const warn = (fields: object) => log.warn(STRANGER, { csiAddress, ...fields, hint: HINT, ...UNHEARD });
  let former: string | undefined;
  if ((await judgeSocket(csiAddress)) === "taken")
    try {
      former = (await askPluginInfo(csiAddress, { timeoutMs: FORMER_WITHIN_MS, signal })).name;
    } catch (err) {
      if (statusCodeOf(err) === status.UNIMPLEMENTED)
        throw socketUnusable(csiAddress, systemError("EADDRINUSE", NO_DRIVER));
      if (!signal?.aborted && (await judgeSocket(csiAddress)) === "taken") warn({ err });
    }
  return (name: string) => {
    if (former !== undefined && former !== name) warn({ name, former });
  };
}
