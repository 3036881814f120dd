import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import table from "./deployments.json";
import { PODS, type PodsRow } from "./pods";

/**
 * A registrar's container as somebody's chart or manifest has it, rendered with its defaults. Placeholders that its
 * installer fills in stand as they are.
 */
export interface Deployment {
  readonly driver: string;
  readonly repository: string;
  readonly args: readonly string[];
  /** Folder in the container -> folder on the host. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly execProbe?: readonly string[];
  /** Path of the HTTP probe; its port is the one in `args`. */
  readonly httpProbe?: string;
}

/** Those whose flags no row of `PODS` has; `commit` says where each was found. */
const OTHER_DEPLOYMENTS = table as readonly Deployment[];

export const DEPLOYMENTS = [...OTHER_DEPLOYMENTS, ...PODS.flatMap(deploymentsOf)];

function deploymentsOf({ project, workloads }: PodsRow): readonly Deployment[] {
  return workloads.flatMap(({ metadata, spec: { template } }) => {
    const { containers, volumes = [] } = template.spec;
    const onHost = new Map(volumes.map(({ name, hostPath }) => [name, hostPath?.path ?? "emptyDir"]));
    return containers
      .filter(({ image }) => image.includes("node-driver-registrar") && !/-win/.test(metadata.name))
      .map(({ command = [], args = [], env = [], volumeMounts = [], livenessProbe = {} }) => {
        const mounts = volumeMounts.map(({ mountPath, name }) => [
          mountPath.replace(/\/$/, ""),
          onHost.get(name) ?? "",
        ]);
        return {
          driver: metadata.name,
          repository: project,
          args: [...command.slice(1), ...args],
          mounts: Object.fromEntries(mounts),
          env: Object.fromEntries(env.map(({ name, value = "" }) => [name, value])),
          ...(livenessProbe.exec && { execProbe: livenessProbe.exec.command }),
          ...(livenessProbe.httpGet && { httpProbe: livenessProbe.httpGet.path }),
        };
      });
  });
}

const DEFAULT_FLAGS = ["--csi-address=/run/csi/socket", "--plugin-registration-path=/registration"];

/**
 * Lays out a deployment's folders under `root`, a mount being a link from the container's folder to the host's, and
 * moves its paths there. Nothing else of its arguments is touched but the ports: tests take what is free.
 */
export function relocate(deployment: Deployment, root: string) {
  for (const [inContainer, onHost] of Object.entries(deployment.mounts)) {
    if (!onHost.startsWith("/")) continue;
    mkdirSync(join(root, onHost), { recursive: true });
    if (inContainer === onHost) continue;
    mkdirSync(dirname(join(root, inContainer)), { recursive: true });
    symlinkSync(join(root, onHost), join(root, inContainer));
  }
  const env = deployment.env ?? {};
  const move = (word: string) =>
    word
      .replace(/\$\{LOG_LEVEL\}/, "2")
      .replace(/\$\((\w+)\)/g, (_, name: string) => env[name] ?? "")
      .replace(/(^|=)(unix:\/\/)?\//, (_, equals: string, scheme = "") => `${equals}${scheme}${root}/`)
      .replace(/^(--http-endpoint=.*:)\d+$/, "$10")
      .replace(/^--health-port=\d+$/, "--http-endpoint=:0");
  const nameOf = (flag: string) => flag.replace(/^-(?=\w)/, "--").split("=")[0];
  const given = deployment.args.map(nameOf);
  const flags = DEFAULT_FLAGS.filter((flag) => !given.includes(nameOf(flag)));
  const endpoint = deployment.args
    .map(move)
    .join(" ")
    .match(/-kubelet-registration-path[= ](\S+)/)?.[1];
  if (endpoint) mkdirSync(dirname(endpoint), { recursive: true });
  return {
    args: [...flags, ...deployment.args].map(move),
    env,
    execProbe: deployment.execProbe?.slice(1).map(move),
    pluginDir: join(root, deployment.mounts["/registration"] ?? "/registration"),
    /** The driver's socket on the host, which kubelet needs; undefined: the deployment has none. */
    endpoint,
  };
}
