import type { NodeInfo } from "../grpc/protos";
import { judgeDriverName } from "../registrar/driver/driver-name";
import { invalidCsiNodeDriver, invalidLabels } from "../simulator/api-validation";
import { behaviourOf } from "../simulator/versions";
import type { Answer, DriverFacts, Facts } from "./facts";

/** A failure to answer in time is told apart from other failures: it says nothing about what the answer would be. */
export type Asked<Value> = Answer<Value> | { readonly kind: "late" };

/** What became of a call, where there was somebody to call. */
export function asked<Value>(answer: Answer<Value> | undefined): readonly Asked<Value>[] {
  if (answer === undefined) return [];
  return answer.kind === "failed" && answer.code === "DeadlineExceeded" ? [{ kind: "late" }] : [answer];
}

export function driverSocket({
  driver,
}: Facts): readonly (DriverFacts["socket"] | { readonly kind: "not-named" })[] {
  return [driver?.socket ?? { kind: "not-named" }];
}

/** The driver's name, where it told one. */
export function driverName({ driver }: Facts) {
  return driver?.identity.kind === "answered"
    ? [{ name: driver.identity.value.name, ...judgeDriverName(driver.identity.value.name) }]
    : [];
}

/** Without `ready` in its answer a driver is ready (CSI specification, ProbeResponse). */
export function readiness({ driver }: Facts) {
  return asked(driver?.probe).map((answer) => {
    if (answer.kind !== "answered") return answer;
    return (answer.value.ready?.value ?? true)
      ? ({ kind: "ready" } as const)
      : ({ kind: "starting" } as const);
  });
}

/** What kubelet and the API server would make of NodeGetInfo's answer. */
export function nodeInfo({ driver }: Facts) {
  return asked(driver?.nodeInfo).map((answer) => {
    if (answer.kind !== "answered") return answer;
    const info = answer.value;
    if (info.nodeId === "") return { kind: "no-node-id" } as const;
    const name = driver?.identity.kind === "answered" ? driver.identity.value.name : "";
    const why = refusalOf(name, info);
    return why === undefined ? ({ kind: "good", info } as const) : ({ kind: "refused", why } as const);
  });
}

/** The rules are the simulated kubelet's: the API server's, for what a CSINode and the labels of a Node may hold. */
function refusalOf(
  name: string,
  { nodeId, maxVolumesPerNode, accessibleTopology }: NodeInfo,
): string | undefined {
  const topology = accessibleTopology?.segments ?? {};
  const driver = { name, nodeId, maxVolumes: maxVolumesPerNode, topology };
  const { maxNodeIdBytes } = behaviourOf("1.36");
  return invalidCsiNodeDriver("this", driver, maxNodeIdBytes) ?? invalidLabels("this", topology);
}
