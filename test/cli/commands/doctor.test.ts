import { resolveTarget } from "../../../src/cli/commands/doctor/target";
import { createTestNode, startTestRegistrar, type TestNode } from "../../support/registrar-node";
import { runCommand } from "../../support/run-command";
import { told } from "../../support/told";

/** A node with a driver on it, and the doctor's words and exit code. */
async function onNode(use: (visit: ReturnType<typeof prepareVisit>) => Promise<void>): Promise<void> {
  await using node = await createTestNode();
  await node.driver();
  await use(prepareVisit(node));
}

function prepareVisit(node: TestNode) {
  const { csiAddress, pluginDir: pluginRegistrationPath } = node;
  const paths = { csiAddress, pluginRegistrationPath, kubeletRegistrationPath: csiAddress };
  const flags = [
    `--csi-address=${csiAddress}`,
    `--kubelet-registration-path=${csiAddress}`,
    `--plugin-registration-path=${pluginRegistrationPath}`,
    // A slow machine is no slow driver.
    "--timeout=1m",
  ];
  return {
    node,
    paths,
    doctor: async (...more: readonly string[]) => {
      const { status, stdout, stderr } = await runCommand("doctor", ...flags, ...more);
      return { code: status, text: stdout, stderr };
    },
  };
}

test.each(["CSI105", "csi105", "manifest-memory"])(
  "--explain %s prints that code's section, as plain text",
  async (code) => {
    const { status, stdout } = await runCommand("doctor", `--explain=${code}`);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^CSI105 manifest-memory\n\nWhether .*\n\nFix: Set `resources\.limits\..*\.\n$/s);
    expect(stdout).not.toMatch(/CSI106|\]\(|\*\*/);
  },
);

test.each([
  ["CSI119", "near it: CSI118, CSI117, CSI116"],
  ["waiting-pod", "near it: waiting-pods"],
  ["x", "docs/doctor-codes.md lists them"],
])("--explain %s: exit code 2", async (text, advice) => {
  const { status, stdout, stderr } = await runCommand("doctor", `--explain=${text}`);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`--explain: "${text}" is not a code of a finding; ${advice}\n`);
});

const OTHERS = "--cluster --driver=x -f=x.yaml -o=json --verbose --csi-address=/csi/csi.sock --v=5";

test.each(OTHERS.split(" "))("--explain beside %s: exit code 2", async (other) => {
  const { status, stderr } = await runCommand("doctor", other, "--explain=CSI105");
  expect(status).toBe(2);
  expect(stderr).toMatch(/: --explain prints a code's section and looks at nothing; leave --[a-z-]+ out\n$/);
});

test("a driver that is registered: exit code 0", () =>
  onNode(async ({ node, paths, doctor }) => {
    const { kubeletRegistrationPath } = paths;
    const kubelet = await node.kubelet();
    await using _registrar = await startTestRegistrar({ options: paths });
    await told(kubelet, await kubelet.registered("x.csi"));
    expect((await doctor()).text).not.toContain("CSI015");
    const { code, text, stderr } = await doctor("--verbose");
    expect(text).toMatch(/^ok {7}CSI015 +registration +x\.csi is registered with kubelet/m);
    expect(text).toMatch(/^No problem found: 0 problems, /m);
    expect(text).toContain(kubeletRegistrationPath);
    expect(text).not.toContain("\u001b");
    expect([code, stderr]).toEqual([0, ""]);
  }));

test("a driver that is not: exit code 1, and what to do", () =>
  onNode(async ({ paths, doctor }) => {
    const { code, text } = await doctor();
    expect(text).toMatch(/^PROBLEM {2}CSI015 +registration +x\.csi has no registration socket/m);
    expect(text).toMatch(/^ +-> see whether its registrar runs/m);
    expect(code).toBe(1);
    expect(text).toContain(paths.pluginRegistrationPath);
  }));

test("JSON says the same to programs, in keys that stay", () =>
  onNode(async ({ paths, doctor }) => {
    const { code, text } = await doctor("--output=json");
    const report = JSON.parse(text);
    expect(Object.keys(report)).toEqual(["schema", "healthy", "target", "drivers", "summary", "findings"]);
    expect(report.healthy).toBe(false);
    expect(report.target).toEqual({
      csiAddress: paths.csiAddress,
      kubeletRegistrationPath: paths.csiAddress,
      pluginRegistrationPath: paths.pluginRegistrationPath,
    });
    expect(Object.keys(report.summary)).toEqual(["problem", "warning", "unknown", "ok"]);
    expect(report.findings).toContainEqual({
      ...{ code: "CSI004", check: "driver-name", status: "ok", subject: "x.csi", text: "is a legal name" },
      ...{ objects: [], fix: null, follows: null, followsIndex: null },
    });
    expect(report.schema).toBe("registrar.doctor/1");
    expect(report.drivers).toEqual([
      {
        name: "x.csi",
        state: "unpublished",
        since: null,
        reason: "the driver answers; no registrar has published it",
        csiSocket: paths.csiAddress,
        registrationSocket: null,
        waitingPods: null,
      },
    ]);
    expect(code).toBe(1);
  }));

test("an argument with which the registrar would not start is a problem", () =>
  onNode(async ({ doctor }) => {
    const { code, text } = await doctor("--health-port=1", "--http-endpoint=:2");
    expect(text).toMatch(/^PROBLEM {2}CSI001 +command-line +the registrar does not start with these/m);
    expect(code).toBe(1);
  }));

test("a DaemonSet's whole arguments are the same to it", () =>
  onNode(async ({ doctor }) => {
    const words = "--v=5 -vmodule a=1 --http-endpoint=:9809 --logtostderr --mode= -timeout 2s";
    const plain = await doctor();
    expect(plain.text).toMatch(/^PROBLEM {2}CSI015/m);
    expect(await doctor(...words.split(" "))).toEqual(plain);
  }));

test("--wait looks again until all is well", () =>
  onNode(async ({ node, paths, doctor }) => {
    const waiting = doctor("--wait=60s");
    const kubelet = await node.kubelet();
    await using _registrar = await startTestRegistrar({ options: paths });
    await kubelet.registered("x.csi");
    expect((await waiting).code).toBe(0);
  }));

test.each([
  [["--csi-address=tcp://x"], /--csi-address: .*not a unix socket path/],
  [["--timeout=0s"], /--timeout: it must be greater than 0/],
  [["--output=yaml"], /--output: "yaml" is not one of its values/],
  [["--csi-adress=/x"], /did you mean --csi-address\?/],
  [["--v=5", "--outputs=json"], /did you mean --output\?/],
  [["--v=high"], /invalid value "high" for flag -v/],
  [["--enable-pprof", "true"], /it takes flags only/],
])("%j is a usage error", async (flags, complaint) => {
  const { status, stderr, stdout } = await runCommand("doctor", ...flags);
  expect(stderr).toMatch(complaint);
  expect([status, stdout]).toEqual([2, ""]);
});

describe("what is looked at", () => {
  const on = (...there: readonly string[]) => {
    const isThere = async (path: string) => there.includes(path);
    return { exists: isThere, isDirectory: isThere };
  };
  const NODE = "/root/of/kubelet/plugins_registry";
  const K0S = "/var/lib/k0s/kubelet/plugins_registry";

  const all = { csiAddress: "/csi/s", kubeletRegistrationPath: "/h" };
  const patterns = { csiAddress: "/p/*/s", kubeletRegistrationPath: "/h/*/s" };
  const named = { csiAddress: "/s", pluginRegistrationPath: "/d/" };
  const NONE = undefined;

  test.each([
    ["a container", {}, on("/registration", "/run/csi/socket"), "/run/csi/socket", NONE, "/registration"],
    ["a container told all", all, on("/registration"), "/csi/s", "/h", "/registration"],
    ["a node", { csiAddress: "/s" }, on(NODE), "/s", "/s", NODE],
    ["a node where nothing is told", {}, on(NODE), NONE, NONE, NODE],
    ["a node where an empty path is told", { kubeletRegistrationPath: "" }, on(NODE), NONE, NONE, NODE],
    ["a node with two kubelets", {}, on(K0S, NODE), NONE, NONE, NODE],
    ["a node of another distribution", {}, on(K0S), NONE, NONE, K0S],
    ["a directory that is named", named, on(NODE), "/s", NONE, "/d"],
    ["a whole node's registrar", patterns, on(NODE), NONE, "/h/*/s", NODE],
    ["nothing at all", {}, on(), NONE, NONE, NODE],
  ])("in %s", async (_, flags, files, csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath) => {
    const target = { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath };
    expect(await resolveTarget(flags, NODE, files)).toMatchObject(target);
  });
});
