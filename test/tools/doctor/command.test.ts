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

test("help with a flag that each mode has is that of a node's", async () => {
  expect(await runCommand("doctor", "-h", "-o=json")).toEqual(await runCommand("doctor", "-h"));
  expect(await runCommand("doctor", "-h", "--output=json")).toEqual(await runCommand("doctor", "-h"));
});
