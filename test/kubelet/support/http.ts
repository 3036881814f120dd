import { eventually } from "../../support/eventually";
import { askHttp } from "../../support/http";
import type { Registrar } from "./registrar";

/** A client of the port that the registrar says it listens on. */
export async function httpOf(registrar: Registrar) {
  const line = await registrar.says('"HTTP server started"');
  const port = Number(/port=(\d+)/.exec(line)?.[1]);
  return {
    status: async (path: string) => (await askHttp(port, path)).status,
    eventually: (path: string, status: number) =>
      eventually(async () => expect(await askHttp(port, path)).toMatchObject({ status })),
  };
}
