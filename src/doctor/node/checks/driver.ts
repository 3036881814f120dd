import type { NodeInfo } from "../../../grpc/protos";
import { invalidCsiNodeDriver, invalidLabels } from "../../../kubelet-rules/api-validation";
import { behaviourOf } from "../../../kubelet-rules/versions";
import { judgeDriverName } from "../../../registrar/driver/driver-name";
import {
  type Check,
  ok,
  problem,
  unknown,
  type Verdict,
  type Verdicts,
  warning,
} from "../../findings/finding";
import { judgeDrivers, nodeInfoCause } from "../drivers";
import type { Answer, Facts } from "../facts";
import { nameTold } from "../whose";
import { DRIVER_HANGS, namelessCause, SEE_DRIVER } from "../words";

/** What it means that a call is not answered. */
interface Silence {
  readonly call: string;
  readonly subject: string;
  readonly say: typeof problem;
  /** What kubelet does about it, to end a sentence. */
  readonly late?: string;
  readonly failed?: string;
  /** What to do about each. */
  readonly lateFix?: string;
  readonly unimplementedFix?: string;
  readonly cause?: string | undefined;
}

/** A failure to answer in time is told apart: it says nothing about what the answer would be. */
function judgeAnswer<Value>(
  answer: Answer<Value>,
  { call, subject, say, late = "", failed = "", lateFix = SEE_DRIVER, unimplementedFix, cause }: Silence,
  judge: (value: Value) => Verdicts,
): Verdicts {
  if (answer.kind === "answered") return judge(answer.value);
  if (answer.kind === "not-asked") return undefined;
  const { code, message } = answer;
  if (code === "DeadlineExceeded")
    return say(subject, `does not answer ${call} in time${late}`, lateFix, cause);
  const fix = (code === "Unimplemented" ? unimplementedFix : undefined) ?? SEE_DRIVER;
  return say(subject, `fails ${call}${failed}: ${code}: ${message}`, fix, cause);
}

export const driverIdentity: Check<Facts> = {
  code: "CSI003",
  name: "driver-identity",
  verdicts: (facts) =>
    judgeDrivers(facts, ({ driver: { identity, socket }, subject }) =>
      identity.kind === "not-asked"
        ? unknown(subject, "could not be asked for its name, readiness and node information")
        : judgeAnswer(
            identity,
            {
              ...{ call: "GetPluginInfo", subject, say: problem, cause: namelessCause(socket) },
              lateFix: DRIVER_HANGS,
              unimplementedFix: "correct --csi-address: what listens there is no CSI driver",
            },
            ({ name, vendorVersion }) =>
              ok(name, `is what ${subject} answers to GetPluginInfo, version ${vendorVersion || "not told"}`),
          ),
    ),
};

export const driverName: Check<Facts> = {
  code: "CSI004",
  name: "driver-name",
  verdicts: (facts) =>
    judgeDrivers(facts, ({ driver }) => {
      const name = nameTold(driver);
      if (name === undefined) return undefined;
      const verdict = judgeDriverName(name);
      switch (verdict.kind) {
        case "valid":
          return ok(name, "is a legal name");
        case "unusual":
          return problem(
            name,
            `is no legal name: ${verdict.problem}`,
            "give the driver another name: the API server refuses this one",
          );
        case "unsafe":
          return problem(
            name,
            `cannot be registered: ${verdict.problem}`,
            "give the driver another name: no registrar can use this one",
          );
        default:
          return verdict satisfies never;
      }
    }),
};

export const driverReady: Check<Facts> = {
  code: "CSI005",
  name: "driver-ready",
  verdicts: (facts) =>
    judgeDrivers(facts, ({ driver, subject }) =>
      judgeAnswer(driver.probe, { call: "Probe", subject, say: warning }, ({ ready }) =>
        // Without `ready` in its answer it is ready (CSI specification).
        (ready?.value ?? true)
          ? ok(subject, "says that it is ready")
          : warning(subject, "says in Probe that it is not ready", `wait; if it stays so, ${SEE_DRIVER}`),
      ),
    ),
};

export const driverNodeInfo: Check<Facts> = {
  code: "CSI006",
  name: "driver-node-info",
  verdicts: (facts) =>
    judgeDrivers(facts, ({ driver, subject }) => {
      const name = nameTold(driver);
      const silence = {
        ...{ call: "NodeGetInfo", subject, say: problem, cause: nodeInfoCause(name) },
        late: "; kubelet waits 2 minutes for it, then refuses the driver",
        failed: ", and kubelet refuses it",
        lateFix: `${SEE_DRIVER}: it may not reach what tells it about its node; --timeout gives it more time here`,
        unimplementedFix: "name the socket of the driver's node plugin, not the controller's",
      };
      return judgeAnswer(driver.nodeInfo, silence, (info) => judgeNodeInfo(name ?? "", subject, info));
    }),
};

function judgeNodeInfo(name: string, subject: string, info: NodeInfo): Verdict {
  const cause = nodeInfoCause(name);
  if (info.nodeId === "")
    return problem(
      subject,
      "answers NodeGetInfo with an empty node ID, which kubelet refuses",
      "tell the driver its node's name, as its own documentation says: often by an environment variable",
      cause,
    );
  const { nodeId, maxVolumesPerNode, accessibleTopology } = info;
  const topology = accessibleTopology?.segments ?? {};
  const { maxNodeIdBytes } = behaviourOf("1.36");
  const why =
    invalidCsiNodeDriver("this", { name, nodeId }, maxNodeIdBytes) ?? invalidLabels("this", topology);
  if (why !== undefined) {
    const text = `answers NodeGetInfo with what the API server refuses: ${why}`;
    return problem(subject, text, "correct the driver's settings", cause);
  }
  const segments = Object.entries(topology).map(([key, value]) => `${key}=${value}`);
  const place = segments.length > 0 ? `topology ${segments.join(", ")}` : "no topology";
  const volumes = maxVolumesPerNode > 0 ? `at most ${maxVolumesPerNode} volumes` : "any number of volumes";
  return ok(nodeId, `is the node ID of ${name}; ${place}; ${volumes}`);
}
