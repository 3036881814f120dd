import { type ApiCall, createApiClient } from "../../src/kube-api/client";
import type { ControlPlane } from "../cluster/support/control-plane";
import type { ClusterWriter } from "../tools/doctor/cluster/sick-cluster";

export function createApiWriter({ url, caFile, adminToken }: ControlPlane): ClusterWriter & Disposable {
  const authority = { kind: "file", path: caFile } as const;
  const client = createApiClient({ server: url, authority, token: { kind: "value", value: adminToken } });
  const { signal } = new AbortController();
  const send = async (call: ApiCall) => {
    const answer = await client.call(call, signal);
    if (answer.kind === "failed") throw new Error(`${call.method} ${call.path}: ${answer.failure.message}`);
    return answer.value as never;
  };
  const contentType = "application/merge-patch+json";
  return {
    create: (path, body) => send({ method: "POST", path, body }),
    setStatus: (path, status) =>
      send({ method: "PATCH", path: `${path}/status`, body: { status }, contentType }),
    [Symbol.dispose]: client.close,
  };
}
