import { nodeTest, onNode, registered } from "../end-to-end/support/node";
import { inEachLanguage } from "./support/driver";

const FAILED = "Error retreiving CSI driver name";
/** What a gRPC client takes by default; kubelet has the same limit. */
const LARGEST = 4 * 1024 * 1024;

inEachLanguage((start) => {
  nodeTest("a driver may answer with 4 MiB", async (node) => {
    await using driver = await start(node, { responseBytes: LARGEST });
    const kubelet = await node.kubelet();
    const registrar = node.registrar("-v=5", "--timeout=10s");
    await registered(kubelet);
    expect(registrar.lines(FAILED)).toEqual([]);
    await driver.askedTimes(1);
    expect(driver.asked()).toHaveLength(1);
    expect((await registrar.line("GRPC response")).text.length).toBeLessThan(8_192);
  });

  nodeTest(
    "an answer above 4 MiB is logged, and the next version of the driver is registered",
    async (node) => {
      await using former = await start(node, { responseBytes: LARGEST + 1 });
      const kubelet = await node.kubelet();
      const registrar = node.registrar("--timeout=10s");
      const { fields } = await registrar.line(FAILED);
      expect(fields).toEqual({
        err: `8 RESOURCE_EXHAUSTED: the server misbehaves: its answer has ${LARGEST + 1} bytes, ${LARGEST} is the most`,
        next: "retry",
      });
      await former.askedTimes(2);
      await former.close();
      await using _next = await start(node);
      await registered(kubelet);
    },
  );

  test.each([
    ["says nothing", false],
    ["sends its headers", true],
  ])(
    "a driver that answers later than --timeout, and until then %s, is asked again",
    onNode(async (node, _what, headersFirst) => {
      const slow = { delayMs: 5_000, times: 1, headersFirst };
      await using driver = await start(node, slow);
      const kubelet = await node.kubelet();
      const registrar = node.registrar("--timeout=500ms");
      const { fields } = await registrar.line(FAILED);
      expect(fields).toEqual({
        err: expect.stringMatching(/^4 DEADLINE_EXCEEDED: /),
        next: "retry; if the driver is slow, raise --timeout",
      });
      await driver.askedTimes(2);
      await registered(kubelet);
    }),
  );
});
