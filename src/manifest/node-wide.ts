import { daemonSet, hostPath } from "./daemon-set";
import type { NodeAccess } from "./node-access";
import type { ResolvedBasics } from "./options";
import { items, type Yaml, yaml } from "./template";

/** One registrar for every driver of a node. `examples/node-wide.yaml` explains each part. */
export function nodeWideDaemonSet(
  options: ResolvedBasics & { readonly allowDrivers?: string | undefined },
  access?: NodeAccess,
): Yaml {
  const { kubeletRoot, httpPort, allowDrivers } = options;
  return daemonSet({
    options,
    access,
    about: yaml`
      # One registrar on each node for every CSI driver there, in place of a sidecar in each driver's DaemonSet.
      # When to choose it: docs/node-wide.md.
    `,
    update: yaml`
      minReadySeconds: 10
      updateStrategy:
        type: RollingUpdate
        rollingUpdate:
          # The new registrar stands by as long as the old one runs, then takes over.
          maxSurge: 1
          maxUnavailable: 0
    `,
    registrar: {
      args: yaml`
        # Each * stands for the same text in both.
        - --csi-address=/plugins/*/csi.sock
        - --kubelet-registration-path=${kubeletRoot}/plugins/*/csi.sock
        - --http-endpoint=:${httpPort}
        - --v=2
        ${allowDrivers === undefined ? undefined : items([`--allow-drivers=${allowDrivers}`])}
      `,
      alive:
        "Fails only if no driver's registration socket answers: one faulty driver does not restart the others.",
      ready: "200 while every driver that was found is registered. For one driver: /readyz?driver=NAME.",
      memory: "64Mi",
      maxMemory: "200Mi",
      mount: yaml`
        - name: plugins-dir
          mountPath: /plugins
          readOnly: true
          # Without it the container keeps a copy of each mount, and volumes stay busy.
          mountPropagation: HostToContainer
      `,
    },
    folder: hostPath("plugins-dir", `${kubeletRoot}/plugins`),
  });
}
