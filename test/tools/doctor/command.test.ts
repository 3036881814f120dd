import { resolveTarget } from "../../../src/tools/doctor/node/read/directory";
import { registrarArguments } from "../../end-to-end/support/node";
import { eachTest } from "../../support/each-test";
import { createTestNode, startTestRegistrar } from "../../support/registrar-node";
import { runCommand } from "../../support/run-command";
import { untilNotified } from "../../support/until-notified";

describe("on a node with a driver", () => {
  const node = eachTest(async () => {
    const made = await createTestNode();
    await made.driver();
    return made;
  });
  const options = () => {
    const { csiAddress, pluginRegistrationPath } = node;
    return { csiAddress, pluginRegistrationPath, endpoint: csiAddress };
  };
  const doctor = async (...more: readonly string[]) => {
    const { status, stdout, stderr } = await runCommand("doctor", ...registrarArguments(node), ...more);
    return { code: status, text: stdout, stderr };
  };

  test("exits with 0 for a registered driver", async () => {
    const kubelet = await node.kubelet();
    await using _registrar = await startTestRegistrar({ options: options() });
    await untilNotified(kubelet, await kubelet.registered("x.csi"));
    expect((await doctor()).text).not.toContain("CSI015");
    const { code, text, stderr } = await doctor("--verbose");
    expect(text).toMatch(/^ok {6}CSI015 x\.csi\n +is registered with kubelet/m);
    expect(text).toMatch(/^No problem found: 0 problems, /m);
    expect(text).toContain(node.csiAddress);
    expect(text).not.toContain("\u001b");
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("exits with 1 for an unregistered driver, with the fix; JSON has the same under stable keys", async () => {
    const { code, text } = await doctor();
    expect(text).toMatch(/^PROBLEM CSI015 x\.csi\n +has no registration socket/m);
    expect(text).toMatch(/^ +-> see whether its registrar runs/m);
    expect(code).toBe(1);

    const json = await doctor("--output=json");
    const { schema, healthy, target, drivers, summary, findings, ...others } = JSON.parse(json.text);
    expect([json.code, schema, healthy, others]).toEqual([1, "registrar.doctor/1", false, {}]);
    const { endpoint: kubeletRegistrationPath, pluginRegistrationPath, csiAddress } = options();
    expect(target).toEqual({ csiAddress, kubeletRegistrationPath, pluginRegistrationPath });
    expect(Object.keys(summary)).toEqual(["problem", "warning", "unknown", "skipped", "ok"]);
    expect(findings).toContainEqual({
      ...{ code: "CSI004", check: "driver-name", status: "ok", subject: "x.csi", text: "is a legal name" },
      ...{ fix: null, command: null, follows: null, followsIndex: null },
    });
    expect(drivers).toEqual([
      {
        ...{ name: "x.csi", state: "unpublished", since: null },
        ...{ csiSocket: csiAddress, registrationSocket: null },
        reason: "the driver answers; no registrar has published it",
      },
    ]);
  });

  test("an argument with which the registrar would not start is a problem", async () => {
    const { code, text } = await doctor("--health-port=1", "--http-endpoint=:2");
    expect(text).toMatch(/^PROBLEM CSI001 the registrar\n +does not start with these/m);
    expect(code).toBe(1);
  });

  test("doctor takes a DaemonSet's whole arguments", async () => {
    const words = "--v=5 -vmodule a=1 --http-endpoint=:9809 --logtostderr --mode= -timeout 2s";
    // How many processes of this machine end while they are read is another number each time.
    const ask = async (...more: readonly string[]) => {
      const { text, ...rest } = await doctor(...more);
      return { ...rest, text: text.replace(/\d+ unknown .*$/m, "") };
    };
    const plain = await ask();
    expect(plain.text).toMatch(/^PROBLEM CSI015/m);
    expect(await ask(...words.split(" "))).toEqual(plain);
  });
});

describe("what is looked at", () => {
  const on = (...there: readonly string[]) => {
    const isThere = async (path: string) => there.includes(path);
    return { exists: isThere, mayBeDirectory: isThere };
  };
  const ENV = { KUBELET_ROOT_DIR: "/root/of/kubelet" };
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
    ["a node that has /registration too", {}, on("/registration", NODE), NONE, NONE, NODE],
    ["a node of another distribution", {}, on(K0S), NONE, NONE, K0S],
    ["a directory that is named", named, on(NODE), "/s", NONE, "/d"],
    ["a whole node's registrar", patterns, on(NODE), NONE, "/h/*/s", NODE],
    ["nothing at all", {}, on(), NONE, NONE, NODE],
  ])("in %s", async (_, flags, files, csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath) => {
    const target = { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath };
    expect(await resolveTarget(flags, ENV, files)).toMatchObject(target);
  });
});
