/** containerd's, for 1.6 and later: nothing is pulled, and images lie in layers over each other. */
export function containerdConfiguration(socket: string, sandboxImage: string): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]

[grpc]
address = "${socket}"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${sandboxImage}"
# Without CAP_SYS_RESOURCE no process may lower a score, and a container that asks for it would not start.
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "/var/lib/cni"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
`;
}

/**
 * Pods on a bridge, which the node itself is on: what a probe over HTTP and the way to the API server need, and no
 * more.
 */
export const CNI_CONFIGURATION = JSON.stringify({
  cniVersion: "0.4.0",
  name: "pods",
  plugins: [
    {
      type: "bridge",
      bridge: "cni0",
      isGateway: true,
      ipam: {
        type: "host-local",
        ranges: [[{ subnet: "10.244.0.0/24" }]],
        routes: [{ dst: "10.96.0.0/16" }],
        dataDir: "/run/addresses",
      },
    },
  ],
});

/** kubelet's, with its defaults wherever they matter to a registration. JSON is YAML. */
export function kubeletConfiguration(runtimeSocket: string, address: string, caFile: string): string {
  return JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address,
    authentication: {
      x509: { clientCAFile: caFile },
      webhook: { enabled: false },
      anonymous: { enabled: false },
    },
    authorization: { mode: "AlwaysAllow" },
    cgroupDriver: "cgroupfs",
    containerRuntimeEndpoint: `unix://${runtimeSocket}`,
    // What a machine for tests may be.
    failCgroupV1: false,
    failSwapOn: false,
    evictionHard: { "memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    imageGCHighThresholdPercent: 100,
    resolvConf: "/var/lib/resolv.conf",
    volumePluginDir: "/var/lib/kubelet/volume-plugins",
    oomScoreAdj: 0,
  });
}
