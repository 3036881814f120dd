import { askHttp, type HttpAnswer } from "../../support/http";
import type { CliProcess } from "./process";

export interface HttpClient {
  readonly port: number;
  get(path: string, options?: Parameters<typeof askHttp>[2]): Promise<HttpAnswer>;
}

/** A client of the port on which the registrar says that it listens. */
export async function httpOf(registrar: CliProcess): Promise<HttpClient> {
  const { fields } = await registrar.line("HTTP server started");
  const port = Number(fields.port);
  return { port, get: (path, options) => askHttp(port, path, options) };
}
