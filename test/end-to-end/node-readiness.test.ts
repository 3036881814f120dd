import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { apiServerCertificate } from "../node-readiness/support/certificates";
import { FOREIGN_TAINT, STARTUP_TAINT } from "../node-readiness/support/fixture";
import {
  NODE_NAME,
  type ScriptedApiServer,
  startScriptedApiServer,
} from "../node-readiness/support/scripted-api-server";
import { eventually } from "../support/eventually";
import { httpOf } from "./support/http";
import { DRIVER, nodeTest, onNode, registered, registrarArguments, type TestNode } from "./support/node";

/** A kubeconfig of an API server in YAML. */
async function kubeconfigOf({ access }: ScriptedApiServer): Promise<string> {
  const { certificate } = await apiServerCertificate();
  const data = Buffer.from(certificate).toString("base64");
  return `current-context: dev
contexts: [{name: dev, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "${access.server}", certificate-authority-data: ${data}}}]
users: [{name: u, user: {token: secret}}]
`;
}

const TAINT_FLAG = "--remove-startup-taint={driver}/agent-not-ready";
const CONDITION_FLAG = "--node-condition={driver}/Registered";
/** Flags and variables of another test must not count. */
const NO_POD = { KUBECONFIG: "", NODE_NAME: "", KUBE_NODE_NAME: "", KUBERNETES_SERVICE_HOST: "" };
const start = (node: TestNode, flags: readonly string[], env: NodeJS.ProcessEnv) =>
  node.cli([...registrarArguments(node), `--termination-log=${node.terminationLogPath}`, ...flags], {
    ...NO_POD,
    ...env,
  });

nodeTest(
  "the taint is removed after kubelet's registration status, and the endpoints show it",
  async (node) => {
    await using server = await startScriptedApiServer();
    server.setTaints([FOREIGN_TAINT, STARTUP_TAINT]);
    const KUBECONFIG = node.at("kubeconfig.yaml");
    writeFileSync(KUBECONFIG, await kubeconfigOf(server));
    const registrar = start(node, [TAINT_FLAG, CONDITION_FLAG, "--http-endpoint=127.0.0.1:0", "-v=5"], {
      KUBECONFIG,
      KUBE_NODE_NAME: NODE_NAME,
    });
    const http = await httpOf(registrar);
    await eventually(() => expect(server.watches).toBe(1));
    await node.driver();
    await registered(await node.kubelet());
    await eventually(async () =>
      expect((await http.get("/readyz?verbose")).body).toContain(
        `[-]node-readiness failed (does not count): taint ${STARTUP_TAINT.key}:NoSchedule is still on the node: CSINode does not list`,
      ),
    );
    await eventually(async () => expect((await http.get("/readyz")).status).toBe(200));
    expect((await http.get("/readyz?require=node-readiness")).status).toBe(503);
    const overdue = `{driver_name="${DRIVER}",taint="${STARTUP_TAINT.key}"} 1`;
    expect((await http.get("/metrics")).body).toContain(`registrar_startup_taint_overdue${overdue}`);
    server.listed = [DRIVER];
    await registrar.line("Startup taint removed");
    await registrar.line("Node condition set");
    expect(server.node?.spec.taints).toEqual([FOREIGN_TAINT]);
    expect((await http.get("/readyz?require=node-readiness")).status).toBe(200);
    const page = await http.get("/statusz", { headers: { accept: "application/json" } });
    expect(JSON.parse(page.body).nodeReadiness).toMatchObject({
      node: NODE_NAME,
      taints: [{ driverName: DRIVER, present: false, removals: 1 }],
      conditions: [{ type: `${DRIVER}/Registered`, status: "True" }],
    });
    // A clean stop leaves the condition as it is: the next registrar has the say.
    const requests = server.requests.length;
    await registrar.stop();
    expect(server.node?.status.conditions).toMatchObject([{ status: "True" }]);
    expect(server.requests.length).toBe(requests);
  },
);

nodeTest("a KUBECONFIG that nobody writes ends the process, with the reason", async (node) => {
  const KUBECONFIG = node.at("kubeconfig");
  execFileSync("mkfifo", [KUBECONFIG]);
  const registrar = start(node, [TAINT_FLAG], { KUBECONFIG, NODE_NAME });
  expect((await registrar.line("Cannot start")).fields.err).toContain(`KUBECONFIG ${KUBECONFIG}: ETIMEDOUT`);
  // Its thread still waits: without execve(2), which Node 20 lacks, only SIGKILL ends it.
  expect([1, null]).toContain((await registrar.exit()).code);
  expect(readFileSync(node.terminationLogPath, "utf8")).toContain("ETIMEDOUT");
});

nodeTest("credentials in FIFOs that have no writer leave the registration alone", async (node) => {
  const [KUBECONFIG, ca, token] = [node.at("kubeconfig"), node.at("ca"), node.at("token")];
  execFileSync("mkfifo", [ca, token]);
  const cluster = { server: "https://127.0.0.1:1", "certificate-authority": ca };
  const config = {
    "current-context": "x",
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user: { tokenFile: token } }],
  };
  writeFileSync(KUBECONFIG, JSON.stringify(config));
  const registrar = start(node, [TAINT_FLAG], { KUBECONFIG, NODE_NAME });
  const message = "API server request for node readiness failed, will retry; registration is not affected";
  expect((await registrar.line(message)).fields.err).toMatch(/\/(ca|token) is empty$/);
  await node.driver();
  await registered(await node.kubelet());
  expect(await registrar.stop()).toEqual({ code: 0, signal: null });
});

test.each<[string, NodeJS.ProcessEnv, string]>([
  [TAINT_FLAG, { KUBERNETES_SERVICE_HOST: "h" }, "need the node's name"],
  [`${TAINT_FLAG} --node-name=n`, {}, "KUBERNETES_SERVICE_PORT are not set"],
])(
  "%s with %j: exit 1 before anything is registered, and the reason is in the termination log",
  onNode(async (node, flags, env, reason) => {
    await node.driver();
    const registrar = start(node, flags.split(" "), { KUBERNETES_SERVICE_PORT: "1", ...env });
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });
    expect(readFileSync(node.terminationLogPath, "utf8")).toContain(reason);
    expect(node.files()).toEqual([]);
  }),
);
