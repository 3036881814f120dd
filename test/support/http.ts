import { type IncomingHttpHeaders, request } from "node:http";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One request on a connection of its own. `path` is sent as it is, however odd. */
export function askHttp(
  port: number,
  path: string,
  { method = "GET", host = "127.0.0.1", headers = {} as Record<string, string> } = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const asking = request({ port, path, method, host, headers, agent: false }, async (response) => {
      const body = (await response.setEncoding("utf8").toArray()).join("");
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    asking.on("error", reject).end();
  });
}
