import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import type { ClusterWriter } from "../doctor/cluster/sick-cluster";

export interface WritableApi {
  readonly url: string;
  readonly caFile: string;
  readonly adminToken: string;
}

/** Writes objects to an API server as its administrator, over as many connections as there are writers. */
export function createApiWriter(api: WritableApi): ClusterWriter & Disposable {
  const ca = readFileSync(api.caFile, "utf8");
  const agent = new Agent({ keepAlive: true, maxSockets: 16, ca });

  const send = (method: string, path: string, body: object, type: string) =>
    new Promise<unknown>((resolve, reject) => {
      const headers = { authorization: `Bearer ${api.adminToken}`, "content-type": type };
      request(`${api.url}${path}`, { method, agent, headers }, async (response) => {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        if ((response.statusCode ?? 0) < 300) resolve(JSON.parse(text));
        else reject(new Error(`${method} ${path}: ${text}`));
      })
        .once("error", reject)
        .end(JSON.stringify(body));
    });

  return {
    create: async (path, object) => (await send("POST", path, object, "application/json")) as never,
    setStatus: async (path, status) => {
      await send("PATCH", `${path}/status`, { status }, "application/merge-patch+json");
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
