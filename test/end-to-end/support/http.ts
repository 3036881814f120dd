import { askHttp } from "../../support/http";
import type { CliProcess } from "./process";

export type HttpClient = Awaited<ReturnType<typeof httpOf>>;

/** A client of the port on which the registrar says that it listens. */
export async function httpOf(registrar: CliProcess) {
  const port = Number((await registrar.line("HTTP server started")).fields.port);
  return {
    port,
    get: (path: string, options?: Parameters<typeof askHttp>[2]) => askHttp(port, path, options),
  };
}
