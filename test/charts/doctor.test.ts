import { daemonSet, OFFICIAL, said } from "../tools/doctor/manifest/one-daemon-set";
import { type Deployment, OTHER_DEPLOYMENTS } from "./deployments";

function daemonSetOf({ driver, args, mounts, env = {}, execProbe, httpProbe }: Deployment): object {
  const port = Number(/--(?:http-endpoint=.*:|health-port=)(\d+)/.exec(args.join(" "))?.[1]);
  // Those that serve on localhost are on the node's network, and their probes ask there: csi-driver-nfs, -smb.
  const isLocal = args.some((word) => word.startsWith("--http-endpoint=localhost:"));
  const httpGet = { path: httpProbe, port, ...(isLocal && { host: "localhost" }) };
  const container = {
    image: OFFICIAL,
    args,
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    volumeMounts: Object.keys(mounts).map((mountPath, n) => ({ name: `v${n}`, mountPath })),
    ...(httpProbe && { livenessProbe: { httpGet } }),
    ...(execProbe && { livenessProbe: { exec: { command: execProbe } } }),
  };
  const volumes = Object.values(mounts).map((path, n) =>
    path.startsWith("/") ? { name: `v${n}`, hostPath: { path } } : { name: `v${n}`, emptyDir: {} },
  );
  return daemonSet({ name: driver, container, pod: { volumes, hostNetwork: isLocal } });
}

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

test.each(OTHER_DEPLOYMENTS.map((one) => [one.repository, one.driver, one] as const))(
  "%s: %s: nothing is said that is not so",
  (_repository, driver, deployment) => {
    const bad = said(daemonSetOf(deployment)).flatMap(
      (line) => /^CSI\d+ (?:problem|warning)/.exec(line) ?? [],
    );
    expect(bad).toEqual(TOLD[driver] ?? []);
  },
);
