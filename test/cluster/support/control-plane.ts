import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { programPath } from "./build";
import { kubeconfigText } from "./kubeconfig";
import { lastWords, type Part, startPart } from "./part";
import { until } from "./patience";

const run = promisify(execFile);
/** Of the Service `kubernetes`: the first of the range. enter-cluster.sh gives it to the node. */
const SERVICE_ADDRESS = "10.96.0.1";
/** A bearer token of system:masters, for a client that knows no certificates. */
const ADMIN_TOKEN = "admin-of-a-test-cluster";

export interface ControlPlaneOptions {
  /** A folder of its own, for database, certificates and logs; who made it removes it. */
  readonly folder: string;
  /** Where the API server listens and is reached. Default: 127.0.0.1. */
  readonly address?: string;
  /** Names of nodes that get a certificate of `system:node:NAME`. Default: none. */
  readonly nodes?: readonly string[];
  /**
   * Controller manager and scheduler too, without which no DaemonSet makes pods, and the API server where pods look for
   * it: at port 443 of every address, so that the Service `kubernetes` needs no proxy. Default: false.
   */
  readonly forPods?: boolean;
  /** More flags for the API server; a later one wins over the same one earlier. */
  readonly apiServerFlags?: readonly string[];
}

/** etcd and kube-apiserver with RBAC, the Node authorizer, NodeRestriction and ValidatingAdmissionPolicy. */
export interface ControlPlane extends AsyncDisposable {
  /** `https://ADDRESS:PORT`. */
  readonly url: string;
  /** The authority's certificate, a file. */
  readonly caFile: string;
  /** A bearer token of an administrator. */
  readonly adminToken: string;
  /** The kubeconfig of `admin`, `kube-scheduler`, `node-NAME` and so on, as the certificates are called; a file. */
  kubeconfig(identity: string): string;
  /** Runs kubectl as an administrator: its output. Rejects with its own words. */
  kubectl(...words: readonly string[]): Promise<string>;
  readonly apiServer: Part;
  /** etcd. */
  readonly database: Part;
  /** Resolves when the API server answers that it is ready. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Resolves when the API server is ready and RBAC's own roles exist; leaves no process behind when it rejects. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { folder, address = "127.0.0.1", nodes = [], forPods = false, apiServerFlags = [] } = options;
  const kubernetes = programPath("kubernetes");
  const pki = join(folder, "pki");
  const at = (name: string) => join(pki, name);
  const [etcdPort, peerPort, freePort] = await freePorts(address, 3);
  const port = forPods ? 443 : freePort;
  const url = `https://${address}:${port}`;
  const parts: Part[] = [];

  mkdirSync(join(folder, "logs"), { recursive: true });
  await run(kubernetes, [
    "certificates",
    `--folder=${pki}`,
    `--hosts=127.0.0.1,${address},${SERVICE_ADDRESS}`,
    `--nodes=${nodes}`,
  ]);
  writeFileSync(at("tokens.csv"), `${ADMIN_TOKEN},admin,admin,system:masters\n`, { mode: 0o600 });
  const start = async (name: string, ...flags: readonly string[]) => {
    const part = await startPart(name, [kubernetes, name, ...flags], join(folder, "logs", `${name}.log`));
    parts.unshift(part);
    return part;
  };
  const kubeconfig = (identity: string) => {
    const file = at(`${identity}.kubeconfig`);
    const certificate = { certificate: at(`${identity}.crt`), key: at(`${identity}.key`) };
    writeFileSync(file, kubeconfigText({ server: url, authority: at("ca.crt"), ...certificate }));
    return file;
  };
  const kubectl = async (...words: readonly string[]) => {
    const { stdout } = await run(kubernetes, ["kubectl", `--kubeconfig=${kubeconfig("admin")}`, ...words], {
      env: { PATH: process.env.PATH, HOME: folder },
      maxBuffer: 1 << 26,
    });
    return stdout;
  };
  const close = async () => {
    for (const part of parts) await part.close();
  };

  try {
    const database = await start(
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
      ...apiServerFlags,
    );
    const ready = () =>
      until(
        async () => {
          if (isOver(apiServer)) throw new Error(`it ended, saying:\n${lastWords(apiServer)}`);
          await kubectl("get", "--raw=/readyz");
        },
        { what: "the API server is ready", limitMs: 120_000, everyMs: 300 },
      );
    await ready();
    if (forPods) {
      for (const name of ["kube-controller-manager", "kube-scheduler"]) {
        const own = kubeconfig(name);
        const common = [`--kubeconfig=${own}`, "--leader-elect=false", "--bind-address=127.0.0.1"];
        await start(
          name,
          ...common,
          `--secure-port=${(await freePorts("127.0.0.1", 1))[0]}`,
          ...flagsOf(name, at),
        );
      }
    }
    return {
      url,
      caFile: at("ca.crt"),
      adminToken: ADMIN_TOKEN,
      kubeconfig,
      kubectl,
      apiServer,
      database,
      ready,
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function flagsOf(name: string, at: (name: string) => string): readonly string[] {
  if (name !== "kube-controller-manager") return [];
  return [
    `--root-ca-file=${at("ca.crt")}`,
    `--service-account-private-key-file=${at("service-accounts.key")}`,
    "--use-service-account-credentials=true",
  ];
}

function isOver({ pid }: Part): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

/** So many ports of this address that nothing listens on. */
async function freePorts(address: string, count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, address));
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once("error", reject);
          server.once("listening", () => {
            const found = server.address();
            resolve(found && typeof found === "object" ? found.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
