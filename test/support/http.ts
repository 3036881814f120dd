import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One request on a connection of its own. `path` is sent as it is, however odd. */
export async function askHttp(
  port: number,
  path: string,
  { method = "GET", host = "127.0.0.1", headers = {} as Record<string, string> } = {},
): Promise<HttpAnswer> {
  const asking = request({ port, path, method, host, headers, agent: false }).on("error", () => {});
  const [response] = (await once(asking.end(), "response")) as [IncomingMessage];
  const body = (await response.setEncoding("utf8").toArray()).join("");
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}
