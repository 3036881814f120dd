import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { attempt } from "../../../src/base/errors";
import { kubernetesOf } from "./build";
import { type Part, startPart } from "./part";
import { until } from "./until";

const run = promisify(execFile);
/** Of the Service `kubernetes`: the first of the range. enter-cluster.sh gives it to the node. */
const SERVICE_ADDRESS = "10.96.0.1";
const ADMIN_TOKEN = "admin-of-a-test-cluster";

interface ControlPlaneOptions {
  /** A folder of its own, for database, certificates and logs; who made it removes it. */
  readonly folder: string;
  readonly address?: string;
  readonly nodes?: readonly string[];
  /** Controller manager and scheduler too, and the API server at port 443, where pods look for it. Default: false. */
  readonly forPods?: boolean;
}

/** etcd and kube-apiserver with RBAC, the Node authorizer, NodeRestriction and ValidatingAdmissionPolicy. */
export type ControlPlane = Awaited<ReturnType<typeof startControlPlane>>;

function createClient(program: string, ...first: readonly string[]) {
  const kubectl = async (...words: readonly string[]): Promise<string> => {
    const { stdout } = await run(program, [...first, ...words], { maxBuffer: 1 << 26 });
    return stdout;
  };
  const kubectlWith = async (objects: readonly object[], ...words: readonly string[]): Promise<string> => {
    const running = run(program, [...first, ...words, "--filename=-"], { maxBuffer: 1 << 26 });
    running.child.stdin?.end(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    return (await running).stdout;
  };
  return {
    kubectl,
    kubectlWith,
    apply: (objects: readonly object[], ...flags: readonly string[]) =>
      kubectlWith(objects, "apply", "--server-side", "--force-conflicts", "--validate=strict", ...flags),
    remove: (objects: readonly object[]) =>
      kubectlWith(objects, "delete", "--ignore-not-found", "--wait=true"),
  };
}

/** Resolves when the API server is ready and RBAC's own roles exist; leaves no process behind when it rejects. */
export async function startControlPlane(options: ControlPlaneOptions) {
  const { folder, address = "127.0.0.1", nodes = [], forPods = false } = options;
  const kubernetes = kubernetesOf("CONTROL_PLANE");
  const pki = join(folder, "pki");
  const at = (name: string) => join(pki, name);
  const [etcdPort, peerPort, freePort] = await freePorts(address, 3);
  const port = forPods ? 443 : freePort;
  const url = `https://${address}:${port}`;
  const parts: Part[] = [];

  mkdirSync(join(folder, "logs"), { recursive: true });
  const hosts = `--hosts=127.0.0.1,${address},${SERVICE_ADDRESS}`;
  await run(kubernetes, ["certificates", `--folder=${pki}`, hosts, `--nodes=${nodes}`]);
  writeFileSync(at("tokens.csv"), `${ADMIN_TOKEN},admin,admin,system:masters\n`, { mode: 0o600 });
  const start = async (name: string, ...flags: readonly string[]) => {
    const part = await startPart([kubernetes, name, ...flags], join(folder, "logs", `${name}.log`));
    parts.unshift(part);
    return part;
  };
  /** The kubeconfig of `admin`, `kube-scheduler`, `node-NAME` and so on, as the certificates are called; a file. */
  const kubeconfig = (identity: string) => {
    const file = at(`${identity}.kubeconfig`);
    writeFileSync(file, kubeconfigText(url, at("ca.crt"), at(`${identity}.crt`), at(`${identity}.key`)));
    return file;
  };
  const asAdmin = [`--kubeconfig=${kubeconfig("admin")}`, `--cache-dir=${join(folder, "kubectl")}`];
  const client = createClient(kubernetes, "kubectl", ...asAdmin);
  const close = async () => {
    for (const part of parts) await part.close();
  };

  try {
    await start(
      "etcd",
      `--data-dir=${join(folder, "etcd")}`,
      `--listen-client-url=http://127.0.0.1:${etcdPort}`,
      `--listen-peer-url=http://127.0.0.1:${peerPort}`,
    );
    const apiServer = await start(
      "kube-apiserver",
      `--etcd-servers=http://127.0.0.1:${etcdPort}`,
      `--bind-address=${forPods ? "0.0.0.0" : address}`,
      ...[`--advertise-address=${address}`, `--secure-port=${port}`],
      `--tls-cert-file=${at("apiserver.crt")}`,
      `--tls-private-key-file=${at("apiserver.key")}`,
      `--client-ca-file=${at("ca.crt")}`,
      `--token-auth-file=${at("tokens.csv")}`,
      `--kubelet-client-certificate=${at("kubelet-client.crt")}`,
      `--kubelet-client-key=${at("kubelet-client.key")}`,
      "--kubelet-preferred-address-types=InternalIP", // a node's name is in no DNS
      `--service-account-key-file=${at("service-accounts.pub")}`,
      `--service-account-signing-key-file=${at("service-accounts.key")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-cluster-ip-range=10.96.0.0/16",
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      "--allow-privileged=true",
      // The address of a loopback interface may be in no Endpoints object.
      ...(address.startsWith("127.") ? ["--endpoint-reconciler-type=none"] : []),
      `--cert-dir=${pki}`,
    );
    const ready = () =>
      until(async () => {
        if (isOver(apiServer)) throw new Error(`it ended, saying:\n${apiServer.lastWords()}`);
        await client.kubectl("get", "--raw=/readyz");
      }, "the API server is ready");
    await ready();
    const startForPods = async (name: string, ...flags: readonly string[]) => {
      const [own] = await freePorts("127.0.0.1", 1);
      const common = [`--kubeconfig=${kubeconfig(name)}`, "--leader-elect=false", "--bind-address=127.0.0.1"];
      await start(name, ...common, `--secure-port=${own}`, ...flags);
    };
    if (forPods) {
      await startForPods(
        "kube-controller-manager",
        `--root-ca-file=${at("ca.crt")}`,
        `--service-account-private-key-file=${at("service-accounts.key")}`,
        "--use-service-account-credentials=true",
      );
      await startForPods("kube-scheduler");
    }
    return {
      ...{ url, caFile: at("ca.crt"), adminToken: ADMIN_TOKEN, kubeconfig, apiServer, ready, close },
      ...client,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Signal 0 only asks whether the process is there. */
const isOver = ({ pid }: Part): boolean => attempt(() => process.kill(pid, 0)) === undefined;

function kubeconfigText(server: string, authority: string, certificate: string, key: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "cluster", cluster: { server, "certificate-authority": authority } }],
    users: [{ name: "user", user: { "client-certificate": certificate, "client-key": key } }],
    contexts: [{ name: "cluster", context: { cluster: "cluster", user: "user" } }],
    "current-context": "cluster",
  });
}

async function freePorts(address: string, count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, address));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
