import { DRIVER } from "../support/registrar-node";
import { serveRegistrar } from "./support";

const driver = [{ name: DRIVER }];
const json = { accept: "application/json" };

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
