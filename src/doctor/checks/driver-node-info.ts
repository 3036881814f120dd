import type { NodeInfo } from "../../grpc/protos";
import { invalidCsiNodeDriver, invalidLabels } from "../../kubelet-rules/api-validation";
import { behaviourOf } from "../../kubelet-rules/versions";
import { type Examined, judgeDrivers, nodeInfoCause } from "../drivers";
import { type Check, ok, problem, type Verdict, type Verdicts } from "../finding";
import { nameTold } from "../whose";
import { SEE_DRIVER } from "../words";
import { asked } from "./asked";

export const driverNodeInfo: Check = {
  code: "CSI006",
  name: "driver-node-info",
  verdicts: (facts) => judgeDrivers(facts, judge),
};

function judge({ driver, subject }: Examined): Verdicts {
  const name = nameTold(driver);
  const cause = nodeInfoCause(name);
  return asked(driver.nodeInfo).map((answer) => {
    switch (answer.kind) {
      case "answered":
        return judgeInfo(name ?? "", subject, answer.value);
      case "late":
        return problem(
          subject,
          "does not answer NodeGetInfo in time; kubelet waits 2 minutes for it, then refuses the driver",
          `${SEE_DRIVER}: it may not reach what tells it about its node; --timeout gives it more time here`,
          cause,
        );
      case "failed":
        return problem(
          subject,
          `fails NodeGetInfo, and kubelet refuses it: ${answer.code}: ${answer.message}`,
          answer.code === "Unimplemented"
            ? "name the socket of the driver's node plugin, not the controller's"
            : SEE_DRIVER,
          cause,
        );
      case "not-asked":
        return undefined;
      default:
        return answer satisfies never;
    }
  });
}

function judgeInfo(name: string, subject: string, info: NodeInfo): Verdict {
  const cause = nodeInfoCause(name);
  if (info.nodeId === "")
    return problem(
      subject,
      "answers NodeGetInfo with an empty node ID, which kubelet refuses",
      "tell the driver its node's name, as its own documentation says: often by an environment variable",
      cause,
    );
  const why = refusalOf(name, info);
  return why === undefined
    ? ok(info.nodeId, `is the node ID of ${name}; ${placeText(info)}`)
    : problem(
        subject,
        `answers NodeGetInfo with what the API server refuses: ${why}`,
        "correct the driver's settings",
        cause,
      );
}

/** The rules are the simulated kubelet's: the API server's, for what a CSINode and the labels of a Node may hold. */
function refusalOf(name: string, { nodeId, accessibleTopology }: NodeInfo): string | undefined {
  const topology = accessibleTopology?.segments ?? {};
  const driver = { name, nodeId };
  const { maxNodeIdBytes } = behaviourOf("1.36");
  return invalidCsiNodeDriver("this", driver, maxNodeIdBytes) ?? invalidLabels("this", topology);
}

function placeText({ maxVolumesPerNode, accessibleTopology }: NodeInfo): string {
  const segments = Object.entries(accessibleTopology?.segments ?? {}).map(
    ([key, value]) => `${key}=${value}`,
  );
  const topology = segments.length > 0 ? `topology ${segments.join(", ")}` : "no topology";
  return `${topology}; ${maxVolumesPerNode > 0 ? `at most ${maxVolumesPerNode} volumes` : "any number of volumes"}`;
}
