import type { Server } from "@grpc/grpc-js";
import type { GuardedClient } from "../../grpc/guard/client-guard";
import { createSmallServer } from "../../grpc/server";

/**
 * Creates a server for one client that reports each request: its method, without its service, and its `:authority` as the
 * client sent it.
 */
export function createObservedServer(
  client: GuardedClient,
  onRequest: (request: { readonly method: string; readonly authority: string }) => void,
): Server {
  return createSmallServer(({ ":path": path = "", ":authority": authority = "" }) =>
    onRequest({
      method: path.slice(path.lastIndexOf("/") + 1),
      authority: client.replacedAuthority() ?? authority,
    }),
  );
}
