import { eventually } from "../../support/eventually";
import { askHttp } from "../../support/http";
import type { Registrar } from "./registrar";

export interface HttpClient {
  /** The status of one answer. */
  readonly status: (path: string) => Promise<number>;
  /** Asks until the answer has this status. */
  readonly eventually: (path: string, status: number) => Promise<void>;
}

/** A client of the port that the registrar says it listens on. */
export async function httpOf(registrar: Registrar): Promise<HttpClient> {
  const line = await registrar.says('"HTTP server started"');
  const port = Number(/port=(\d+)/.exec(line)?.[1]);
  return {
    status: async (path) => (await askHttp(port, path)).status,
    eventually: (path, status) =>
      eventually(async () => expect(await askHttp(port, path)).toMatchObject({ status })),
  };
}
