import { messageOf } from "../../src/base/errors";
import { serveDiagnostics } from "../support/diagnostics";
import { registerOnce } from "../support/fake-kubelet";
import { createTestNode, ENDPOINT, startTestRegistrar, type TestNode } from "../support/registrar-node";
import { startScriptedDriver } from "../support/scripted-driver";

const name = "x.csi";
let node: TestNode;
beforeEach(async () => {
  node = await createTestNode();
});
afterEach(() => node[Symbol.asyncDispose]());

const json = { accept: "application/json" };
const TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";

test("tells people what is going on", async () => {
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node);
  await using http = await serveDiagnostics(started);
  await started.state("listening");
  await registerOnce(node.socketPath(name));
  await started.state("registered");

  const { status, headers, body } = await http.ask("/statusz");
  expect({ status, type: headers["content-type"] }).toEqual({
    status: 200,
    type: "text/plain; charset=utf-8",
  });
  for (const line of [
    "started: 1970-01-01T00:16:40\\.500Z",
    "version: v1\\.2\\.3",
    `    name: x\\.csi`,
    "    connected: true",
    "    state: registered",
    `    since: ${TIME}`,
    `    socket: ${node.socketPath(name)}`,
    `    kubeletRegistrationPath: ${ENDPOINT}`,
    "      getInfoCalls: 1",
    `      ${TIME}  waiting -> publishing  driver-named  "x\\.csi"`,
    `      ${TIME}  asked -> registered  accepted`,
  ])
    expect(body).toMatch(new RegExp(`^${line}$`, "m"));
});

test("tells programs the same", async () => {
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node);
  await using http = await serveDiagnostics(started);
  await started.state("listening");
  const { headers, body } = await http.ask("/statusz", "GET", json);
  expect(headers["content-type"]).toBe("application/json");
  expect(JSON.parse(body)).toMatchObject({
    version: "v1.2.3",
    drivers: [
      {
        name,
        vendorVersion: "v1",
        state: "listening",
        socket: node.socketPath(name),
        counters: { getInfoCalls: 0, publications: { "driver-named": 1 } },
        history: [
          { from: "waiting", to: "publishing", event: { kind: "driver-named", driverName: name } },
          { from: "publishing", to: "listening", event: { kind: "published" } },
        ],
      },
    ],
  });
});

test("has little to tell before the driver comes", async () => {
  await using started = await startTestRegistrar(node);
  await using http = await serveDiagnostics(started);
  const [driver] = JSON.parse((await http.ask("/statusz", "GET", json)).body).drivers;
  expect(driver).toMatchObject({ state: "waiting", connected: false, history: [] });
  expect(driver).not.toHaveProperty("name");
});

test("names a driver that answers far too much, and keeps little of one that answers too much", async () => {
  await using _driver = await startScriptedDriver(
    node.csiAddress,
    { name, vendorVersion: "v".repeat(4_200_000) },
    { name, vendorVersion: "v".repeat(3_900_000) },
  );
  await using started = await startTestRegistrar(node);
  await using http = await serveDiagnostics(started);
  const { fields, error } = await started.log.when("Error retreiving CSI driver name");
  expect(fields).toEqual({ next: "retry" });
  expect(messageOf(error)).toContain("the server misbehaves: its answer has 4200");
  expect((await http.ask("/statusz")).body).toContain(
    "reason: the CSI driver does not tell its name: 8 RESOURCE_EXHAUSTED: the server misbehaves",
  );
  await started.state("listening");
  const { body } = await http.ask("/statusz");
  expect(body).toMatch(/vendorVersion: v+ \[cut, 3900000 characters in all\]\n/);
  const problem = expect.stringMatching(/^its answer to GetPluginInfo has 39000\d\d bytes, /);
  expect(started.log.all("CSI driver misbehaves").map(({ fields }) => fields.problem)).toEqual([problem]);
  expect(/misbehaviour: (.*)/.exec(body)?.[1]).toEqual(problem);
  expect(body.length).toBeLessThan(4_096);
});

test("a driver cannot add a line of its own", async () => {
  const vendorVersion = "v1\n    state: registered";
  await using _driver = await startScriptedDriver(node.csiAddress, { name, vendorVersion });
  await using started = await startTestRegistrar(node);
  await using http = await serveDiagnostics(started);
  await started.state("listening");
  const { body } = await http.ask("/statusz");
  expect(body).toContain(`vendorVersion: ${JSON.stringify(vendorVersion)}\n`);
  expect(body).not.toMatch(/^ {4}state: registered$/m);
});
