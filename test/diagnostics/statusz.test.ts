import { DRIVER, ENDPOINT } from "../support/registrar-node";
import { serveRegistrar } from "./support";

const driver = [{ name: DRIVER }];
const json = { accept: "application/json" };
const TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";

test("/statusz shows people the state, paths and history", async () => {
  await using served = await serveRegistrar({ driver });
  await served.register();

  const { status, headers, body } = await served.ask("/statusz");
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  for (const line of [
    "started: 1970-01-01T00:16:40\\.500Z",
    "version: v1\\.2\\.3",
    "  x\\.csi:",
    "    name: x\\.csi",
    "    connected: true",
    "    state: registered",
    `    since: ${TIME}`,
    `    socket: ${served.socketPath}`,
    `    kubeletRegistrationPath: ${ENDPOINT}`,
    "      getInfoCalls: 1",
    `      ${TIME}  waiting -> publishing  driver-named`,
    `      ${TIME}  asked -> registered  accepted`,
  ])
    expect(body).toMatch(new RegExp(`^${line}$`, "m"));
});

test("/statusz gives programs the same as JSON, also before a driver answers", async () => {
  await using served = await serveRegistrar();
  const [waiting] = JSON.parse((await served.ask("/statusz", "GET", json)).body).drivers;
  expect(waiting).toMatchObject({ state: "waiting", connected: false, history: [] });
  expect(waiting).not.toHaveProperty("name");

  const tooMuch = { name: DRIVER, vendorVersion: "v".repeat(4.2e6) };
  await served.startDriver(tooMuch, ...driver);
  await served.log.when("Error retreiving CSI driver name");
  expect((await served.ask("/statusz")).body).toContain(
    "reason: GetPluginInfo of the CSI driver fails: 8 RESOURCE_EXHAUSTED: the server misbehaves",
  );
  await served.state("listening");
  const { headers, body } = await served.ask("/statusz", "GET", json);
  expect(headers["content-type"]).toBe("application/json");
  expect(JSON.parse(body)).toMatchObject({
    version: "v1.2.3",
    drivers: [
      {
        name: DRIVER,
        vendorVersion: "v1",
        state: "listening",
        socket: served.socketPath,
        counters: { getInfoCalls: 0, publications: { "driver-named": 1 } },
        history: [
          { from: "waiting", to: "publishing", reason: "driver-named" },
          { from: "publishing", to: "listening", reason: "published" },
        ],
      },
    ],
  });
});
