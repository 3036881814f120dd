import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type NetConnectOpts, type Socket } from "node:net";

export type HttpAnswer = Awaited<ReturnType<typeof askHttp>>;

/** One request on a connection of its own. `path` is sent as it is, however odd. */
export async function askHttp(
  port: number,
  path: string,
  { method = "GET", host = "127.0.0.1", headers = {} as Record<string, string> } = {},
) {
  const asking = request({ port, path, method, host, headers, agent: false }).on("error", () => {});
  const [response] = (await once(asking.end(), "response")) as [IncomingMessage];
  const body = (await response.setEncoding("utf8").toArray()).join("");
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** So many connections that say nothing, all of them made; the server may end one later. */
export async function connectOften(to: NetConnectOpts, times: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: times }, () => connect(to).on("error", () => {}));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return sockets;
}
