import { nodeTest, onNode, registered } from "../end-to-end/support/node";
import { inEachLanguage } from "./support/driver";

/** With what a status text must be encoded for: a percent sign, a line's end, letters beyond ASCII. */
const TEXT = "not yet, 50 % done:\n“über” 😀";
const FAILED = "Error retreiving CSI driver name";
const PATIENT = "--timeout=10s";

inEachLanguage((start) => {
  test.each([
    ["UNAVAILABLE", 14],
    ["INTERNAL", 13],
    ["RESOURCE_EXHAUSTED", 8],
  ])(
    "a driver that answers %s at first is asked again, and its text is logged",
    onNode(async (node, name, code) => {
      const failing = { error: `${name}:${TEXT}`, times: 1 };
      await using driver = await start(node, failing);
      const kubelet = await node.kubelet();
      const registrar = node.registrar(PATIENT);
      await registered(kubelet);
      const said = registrar.lines(FAILED).map(({ severity, fields }) => ({ severity, fields }));
      expect(said).toEqual([{ severity: "E", fields: { err: `${code} ${name}: ${TEXT}`, next: "retry" } }]);
      await driver.askedTimes(2);
      expect(driver.asked()).toHaveLength(2);
    }),
  );

  nodeTest("a driver that answers INVALID_ARGUMENT is asked again once it has restarted", async (node) => {
    await using former = await start(node, { error: `INVALID_ARGUMENT:${TEXT}` });
    const kubelet = await node.kubelet();
    const registrar = node.registrar(PATIENT);
    const said = await registrar.line(FAILED);
    const next = "retry in 30s, or when the driver restarts";
    expect(said.fields).toEqual({ err: `3 INVALID_ARGUMENT: ${TEXT}`, next });
    await former.askedTimes(1);
    await former.close();
    expect(former.asked()).toHaveLength(1);
    await using _better = await start(node);
    await registered(kubelet);
  });
});
