/** The drivers whose tests run: they deploy the manifests that name the registrar's image. */
export const FOCUS = ["csi-hostpath", "CSI Mock"];

/** Five minutes: inline and provisioned volumes, attaching, and kubelet's look at CSINode's limits. */
export const QUICK = [
  "csi-hostpath.*Ephemeral-volume.*should create read-only inline",
  "csi-hostpath.*Dynamic PV .default fs.*should store data",
  "csi-hostpath.*Dynamic PV .block volmode.*should store data",
  "CSI Mock.*attach test",
];

/** What is left out, by a condition on the tests' labels that those which run meet, and why. */
export const LEFT_OUT: readonly { readonly unless: string; readonly why: string }[] = [
  { unless: "!Slow", why: "minutes each; they wait for timeouts" },
  { unless: "!Disruptive", why: "they restart kubelet by systemd over SSH, which this node lacks" },
  { unless: "!Serial", why: "they need the cluster for themselves" },
  { unless: "FeatureGate: isEmpty", why: "feature gates stay as Kubernetes sets them" },
  {
    unless: "Feature: isSubsetOf {VolumeSnapshotDataSource}",
    why: "each needs something that a plain cluster of one Linux node lacks",
  },
];
