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

/** Where a node listens, by its number from 1, and the addresses of its pods. */
export const addressOf = (node: number): string => `192.168.99.${node}`;
export const podsOf = (node: number): string => `10.244.${node}.0/24`;
export const groupOf = (node: number): string | undefined => (node === 1 ? undefined : `/node-${node}`);

/** Pods on a bridge, which the node itself is on: the way to the API server and to the nodes, and no more. */
export function cniConfiguration(node: number): string {
  return JSON.stringify({
    cniVersion: "0.4.0",
    name: "pods",
    plugins: [
      {
        type: "bridge",
        bridge: "cni0",
        isGateway: true,
        ipam: {
          type: "host-local",
          ranges: [[{ subnet: podsOf(node) }]],
          routes: [{ dst: "10.96.0.0/16" }, { dst: "192.168.99.0/24" }],
          dataDir: "/run/addresses",
        },
      },
    ],
  });
}

/** kubelet's, with its defaults wherever they matter to a registration. JSON is YAML. */
export function kubeletConfiguration(runtimeSocket: string, node: number, caFile: string): string {
  return JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: addressOf(node),
    healthzBindAddress: addressOf(node),
    cgroupRoot: groupOf(node),
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
