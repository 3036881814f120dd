import { settingsOf } from "../../src/cli/commands/doctor/settings";
import { type Finding, findingsOf } from "../../src/doctor/findings/finding";
import { MANIFEST_CHECKS } from "../../src/doctor/manifest/checks";
import { readDeployments } from "../../src/doctor/manifest/read-deployments";
import { DEPLOYMENTS, type Deployment } from "./deployments";

/** The DaemonSet that a row of the table stands for. */
function daemonSetOf({ driver, args, mounts, env = {}, execProbe, httpProbe }: Deployment): object {
  const port = Number(/--(?:http-endpoint=.*:|health-port=)(\d+)/.exec(args.join(" "))?.[1]);
  // Those that serve on localhost are on the node's network, and their probes ask there: csi-driver-nfs, -smb.
  const isLocal = args.some((word) => word.startsWith("--http-endpoint=localhost:"));
  const livenessProbe = execProbe
    ? { exec: { command: execProbe } }
    : httpProbe && { httpGet: { path: httpProbe, port, ...(isLocal && { host: "localhost" }) } };
  const registrar = {
    name: "registrar",
    image: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0",
    args,
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    volumeMounts: Object.keys(mounts).map((mountPath, index) => ({ name: `v${index}`, mountPath })),
    ...(livenessProbe && { livenessProbe }),
  };
  const volumes = Object.values(mounts).map((path, index) =>
    path.startsWith("/") ? { name: `v${index}`, hostPath: { path } } : { name: `v${index}`, emptyDir: {} },
  );
  return {
    kind: "DaemonSet",
    metadata: { name: driver },
    spec: {
      template: { spec: { containers: [registrar, { name: "driver" }], volumes, hostNetwork: isLocal } },
    },
  };
}

const findingsFor = (deployment: Deployment): readonly Finding[] =>
  findingsOf(
    MANIFEST_CHECKS,
    readDeployments([{ file: deployment.repository, object: daemonSetOf(deployment) }], settingsOf),
  );

/**
 * Each was looked at, and is true: probes with the mode that always passes; a release from before the required flag,
 * with a directory of that time; sockets in kubelet's registration directory, which kubelet calls in vain.
 */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  "azure-lustre": ["CSI104 warning"],
  "ibm-vpc-file": ["CSI104 warning"],
  "csi-flex-adapter (archived)": ["CSI101 problem", "CSI103 problem"],
  "democratic-csi": ["CSI104 warning"],
  "scality mountpoint-s3": ["CSI104 warning"],
  "vault-secrets-operator csi": ["CSI104 warning"],
  "storageos/ondat (archived)": ["CSI102 warning"],
  "gardener vsphere": ["CSI102 warning"],
  "ddn exascaler": ["CSI104 warning"],
  "model-csi": ["CSI104 warning"],
  hammerspace: ["CSI102 warning"],
};

test.each(DEPLOYMENTS.map((one) => [one.repository, one.driver, one] as const))(
  "%s: %s: nothing is said that is not so",
  (_repository, driver, deployment) => {
    const bad = findingsFor(deployment).filter(({ status }) => status === "problem" || status === "warning");
    expect(bad.map(({ code, status }) => `${code} ${status}`)).toEqual(TOLD[driver] ?? []);
  },
);
