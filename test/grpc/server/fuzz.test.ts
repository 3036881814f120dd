import { once } from "node:events";
import { connect } from "node:net";
import * as fc from "fast-check";
import { eventually } from "../../support/eventually";
import { dialRegistration } from "../../support/fake-kubelet";
import { propertyTest } from "../../support/fuzz";
import { chunkLengths, connections, inChunks } from "../arbitrary-connections";
import { INFO, openDescriptors, serveGrpc } from "../served-grpc";

type Served = Awaited<ReturnType<typeof serveGrpc>>;

/** How a client leaves: it hangs up and waits, it breaks off, or it leaves its answers unread and then breaks off. */
const goodbyes = fc.constantFrom<"end" | "destroy" | "never read">("end", "end", "destroy", "never read");

describe("whatever a client sends", () => {
  let served: Served;
  let descriptors: number;
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);

  beforeAll(async () => {
    served = await serveGrpc();
    // The first connection loads what Node loads late.
    await visit(served, [Buffer.alloc(1)], "end");
    descriptors = openDescriptors();
    process.on("warning", warned);
  });
  afterAll(async () => {
    process.off("warning", warned);
    await served[Symbol.asyncDispose]();
  });

  propertyTest(
    "its connection ends with it, and kubelet is answered",
    { runs: 250, given: fc.tuple(connections, chunkLengths, goodbyes) },
    async ([sent, lengths, goodbye]) => {
      await visit(served, inChunks(sent, lengths), goodbye);
      await eventually(() => expect(served.server.connections.open).toBe(0));
      using kubelet = dialRegistration(served.path);
      expect(await kubelet.getInfo()).toEqual(INFO);
    },
  );

  test("no file descriptor is left, no warning was made, nothing was logged but in our own form", async () => {
    await eventually(() => expect(served.server.connections.open).toBe(0));
    await eventually(() => expect(openDescriptors()).toBe(descriptors));
    expect(warnings).toEqual([]);
    expect(served.records.filter(({ severity }) => severity !== "info").length).toBeLessThan(10);
  });
});

/** One client's life. */
async function visit({ path }: Served, chunks: readonly Buffer[], goodbye: "end" | "destroy" | "never read") {
  const client = connect(path);
  client.on("error", () => {}); // We may be cut off while we write.
  const closed = new Promise((resolve) => client.once("close", resolve));
  if (goodbye === "never read") client.pause();
  else client.resume();
  await once(client, "connect");
  // Small chunks would else be sent as one.
  for (const chunk of chunks.slice(0, 200)) {
    if (client.destroyed) break;
    client.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  client.write(Buffer.concat(chunks.slice(200)));
  if (goodbye === "end") client.end();
  else client.destroy();
  await closed;
}
