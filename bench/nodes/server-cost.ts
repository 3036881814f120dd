import { readFileSync } from "node:fs";
import type { ControlPlane } from "../../test/cluster/support/control-plane";

/** What an API server has done and taken since it started. */
export interface ServerCost {
  /** Processor time of kube-apiserver and etcd, in milliseconds. */
  readonly cpuMs: number;
  /** Requests for nodes and CSINodes but for watches; of these, writes. */
  readonly requests: number;
  readonly writes: number;
  /** Watches on nodes that are open. */
  readonly watches: number;
}

/** Linux counts processor time in hundredths of a second, on every architecture that Node runs on. */
const TICK_MS = 10;

export async function readServerCost({ kubectl, apiServer, database }: ControlPlane): Promise<ServerCost> {
  const metrics = await kubectl("get", "--raw=/metrics");
  const samples = (name: string) =>
    Array.from(
      metrics.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, "gm")),
      ([, labels = "", value]) => ({
        label: (label: string) => new RegExp(`\\b${label}="([^"]*)"`).exec(labels)?.[1] ?? "",
        value: Number(value),
      }),
    );
  const sum = (values: readonly { readonly value: number }[]) =>
    values.reduce((total, { value }) => total + value, 0);
  const calls = samples("apiserver_request_total").filter(
    ({ label }) =>
      ["nodes", "csinodes"].includes(label("resource")) && !["WATCH", "LIST"].includes(label("verb")),
  );
  const watches = samples("apiserver_longrunning_requests").filter(
    ({ label }) => label("resource") === "nodes" && label("verb") === "WATCH",
  );
  return {
    cpuMs: cpuMsOf(apiServer.pid) + cpuMsOf(database.pid),
    requests: sum(calls),
    writes: sum(calls.filter(({ label }) => label("verb") !== "GET")),
    watches: sum(watches),
  };
}

function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
