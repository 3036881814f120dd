import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type CliProcess, patience } from "./process";

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface HttpClient {
  readonly port: number;
  get(path: string, options?: HttpOptions): Promise<HttpAnswer>;
  /** Asks until the answer has this status: the registrar's look at itself holds for a second. */
  eventually(path: string, status: number): Promise<HttpAnswer>;
}

export interface HttpOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of the port on which the registrar says that it listens; each request has a connection of its own. */
export async function httpOf(registrar: CliProcess): Promise<HttpClient> {
  const { fields } = await registrar.line("HTTP server started");
  const port = Number(fields.port);
  const get: HttpClient["get"] = (path, { method = "GET", headers = {} } = {}) =>
    new Promise((resolve, reject) => {
      const target = { host: "127.0.0.1", port, path, method, headers, agent: false, ...patience() };
      const asked = request(target, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, body, headers: response.headers }),
        );
      });
      asked.on("error", reject).end();
    });
  const eventually: HttpClient["eventually"] = async (path, status) => {
    const { signal } = patience();
    for (;;) {
      const answer = await get(path);
      if (answer.status === status) return answer;
      if (signal.aborted) throw new Error(`${path} stays ${answer.status}: ${answer.body}`);
      await delay(50);
    }
  };
  return { port, get, eventually };
}
