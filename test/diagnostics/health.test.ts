import { rmSync } from "node:fs";
import { dialRegistration } from "../support/dial-registration";
import { eventually } from "../support/eventually";
import { startForeignSocket } from "../support/foreign-socket";
import { DRIVER } from "../support/registrar-node";
import { serveRegistrar } from "./support";

const ok = { status: 200, body: "ok" };
const driver = [{ name: DRIVER }];

describe("/healthz", () => {
  test("/healthz is 200 while the registrar waits or our socket answers, whatever kubelet reported", async () => {
    await using served = await serveRegistrar({ registrar: { onRegistrationFailure: "retry" } });
    expect(await served.ask("/healthz")).toMatchObject({
      ...ok,
      headers: { "content-type": "text/plain; charset=utf-8", "content-length": "2" },
    });
    expect(await served.ask("/healthz", "HEAD")).toMatchObject({ status: 200, body: "" });
    await served.startDriver(...driver);
    await served.state("listening");
    expect(await served.ask("/healthz")).toMatchObject(ok);
    await served.register("no");
    expect(await served.ask("/healthz")).toMatchObject(ok);
  });

  test("/healthz is 404 when our socket is gone, and 200 when it is back", async () => {
    await using served = await serveRegistrar({ driver });
    await served.state("listening");
    // Nothing is published between GetInfo and the registration status: the socket stays away long enough to be seen.
    using kubelet = dialRegistration(served.socketPath);
    await kubelet.getInfo();
    await served.state("asked");
    rmSync(served.socketPath);
    const missing = { status: 404, body: "registration socket does not exist" };
    expect(await served.ask("/healthz")).toMatchObject(missing);
    expect(served.log.all("Health check failed, registration socket does not exist")).toHaveLength(1);

    await kubelet.notify();
    // An answer holds for a second.
    await eventually(async () => expect(await served.ask("/healthz")).toMatchObject(ok));
  });

  test("/healthz is 500 when another socket at our path does not answer", async () => {
    await using served = await serveRegistrar({ driver, registrar: { timeoutMs: 50 } });
    await served.state("listening");
    await using _mute = await startForeignSocket(served.socketPath);
    await served.state("standby");
    expect(await served.ask("/healthz")).toMatchObject({
      status: 500,
      body: expect.stringContaining("error getting info from node-registrar socket: "),
    });
    expect(served.log.all("Health check failed")).toHaveLength(1);
  });
});

test("/livez is ok, whatever happens", async () => {
  await using served = await serveRegistrar();
  expect(await served.ask("/livez")).toMatchObject(ok);
  expect((await served.ask("/livez?verbose")).body).toBe("[+]ping ok\nlivez check passed\n");
});

test("/readyz is ok when kubelet has registered the driver, and not before", async () => {
  await using served = await serveRegistrar();
  const waiting = await served.ask("/readyz");
  expect([waiting.status, waiting.body.split("\n").length]).toEqual([503, 5]);
  for (const query of ["exclude=%zz", "verbose&verbose", "//", ""])
    expect((await served.ask(`/readyz?${query}`)).status).toBe(503);
  const refused = { status: 405, headers: { allow: "GET, HEAD" } };
  expect(await served.ask("/readyz", "POST")).toMatchObject(refused);

  await served.startDriver(...driver);
  await served.register();
  for (const query of ["", `?driver=${DRIVER}`])
    expect(await served.ask(`/readyz${query}`)).toMatchObject(ok);
  expect((await served.ask("/readyz?driver=y.csi")).status).toBe(503);
});
